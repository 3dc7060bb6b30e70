-- Numbers of events whose events are gone: what is left is counted without looking at each.
alter table source_progress add column gone integer not null default 0;
update source_progress set gone = last_seq - (select count(*) from events where events.source_id = source_progress.source_id);
create trigger events_gone after delete on events begin
  update source_progress set gone = gone + 1 where source_id = old.source_id;
end;
