-- Events that are emitted at a later time.
create table postponed_events (
  seq           integer primary key autoincrement,
  source_id     text not null references deployed_components (id) on delete cascade,
  due_at        integer not null,
  stored_at     integer not null,
  channel       text not null,
  dedupe_id     text,
  summary       text,
  ts            integer,
  invocation_id text not null,
  payload       text not null
) strict;
create index postponed_events_by_time on postponed_events (due_at);
create index postponed_events_by_source on postponed_events (source_id, seq);
