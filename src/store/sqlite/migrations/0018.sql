-- Sources of which a large run is being written in parts. Until its commit neither its events count, which lie beyond
-- last_seq, nor their deliveries.
create table staged_events (
  source_id      text primary key references deployed_components (id) on delete cascade,
  fence          integer not null,             -- of who writes them
  at             integer not null,             -- when those deliveries are due
  first_delivery integer not null              -- the first one of this emitter that does not count
) strict, without rowid;
create trigger staged_deliveries_gone before delete on deployed_components begin
  delete from deliveries where emitter_id = old.id and seq >= (select first_delivery from staged_events where source_id = old.id);
end;

drop trigger events_gone;
create trigger events_gone after delete on events begin
  update source_progress set gone = gone + 1 where source_id = old.source_id and last_seq >= old.seq;
end;
