-- Each code that a source ran on. `first_seq`: calls that are stored later may have run on it.
create table source_versions (
  source_id    text not null references deployed_components (id) on delete cascade,
  number       integer not null,
  component_id text not null references saved_components (id),
  at           integer not null,
  first_seq    integer not null,
  primary key (source_id, number)
) strict, without rowid;
create index source_versions_by_component on source_versions (component_id);
alter table deployed_components add column version integer not null default 1;
insert into source_versions (source_id, number, component_id, at, first_seq)
  select id, 1, component_id, updated_at, coalesce((select max(seq) from invocations), 0) from deployed_components;
-- The version that a call ran on.
alter table invocations add column version integer;
