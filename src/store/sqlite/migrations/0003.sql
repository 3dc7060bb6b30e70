-- What additionalProps declared for a source's values: JSON, a list of declarations.
alter table deployed_components add column dynamic_props text not null default '[]';

-- Key-value stores that several components share.
create table data_stores (
  name       text primary key,
  created_at integer not null
) strict, without rowid;

create table data_store_values (
  store text not null references data_stores (name) on delete cascade,
  key   text not null,
  value text not null,                         -- JSON
  primary key (store, key)
) strict, without rowid;

-- Where components are found by key, in the order of `position`.
create table registries (
  name     text primary key,
  kind     text not null check (kind in ('folder', 'npm', 'git', 'tarball')),
  location text not null,
  position integer not null
) strict, without rowid;

-- The packages in which the public components are published.
insert into registries (name, kind, location, position) values ('pipedream', 'npm', '@pipedream', 1);
