-- Code that was saved, with what was built of it.
create table saved_components (
  id              text primary key,
  key             text,
  hash            text not null,
  code            text not null,               -- JSON: path, text, files
  origin          text not null,               -- JSON
  bundle          text not null,               -- JSON: code, map, packages, imports
  definition      text not null,               -- JSON
  lock            text not null,               -- JSON: package name → version
  packages_folder text,
  is_transient    integer not null,
  created_at      integer not null
) strict;
create index saved_components_by_key on saved_components (key, created_at) where key is not null;

-- Instances of saved components. `is_ready` is 0 while the deploy hooks run; a restart removes such rows.
create table deployed_components (
  id           text primary key,
  component_id text not null references saved_components (id),
  name         text not null,
  slug         text not null unique,
  endpoint_key text not null unique,
  configured   text not null,                  -- JSON
  env          text not null,                  -- JSON
  active       integer not null,
  is_ready     integer not null,
  activate_due integer not null default 0,     -- deactivate has run, so a restart runs activate
  created_at   integer not null,
  updated_at   integer not null
) strict;
create index deployed_components_by_component on deployed_components (component_id);

-- What changes with every run of a source.
create table source_progress (
  source_id text primary key references deployed_components (id) on delete cascade,
  fence     integer not null default 0,
  last_seq  integer not null default 0,
  cache     text not null default '{}'         -- JSON: dedupe cache
) strict, without rowid;

-- $.service.db
create table state (
  source_id text not null references deployed_components (id) on delete cascade,
  key       text not null,
  value     text not null,                     -- JSON
  primary key (source_id, key)
) strict, without rowid;

create table events (
  source_id     text not null references deployed_components (id) on delete cascade,
  seq           integer not null,
  stored_at     integer not null,
  channel       text not null,
  dedupe_id     text,
  summary       text,
  ts            integer,
  invocation_id text not null,
  payload       text not null
) strict;
create unique index events_by_seq on events (source_id, seq);

create table invocations (
  seq             integer primary key,
  id              text not null unique,
  source_id       text not null references deployed_components (id) on delete cascade,
  trigger         text not null,               -- JSON
  started_at      integer not null,
  duration_ms     real not null,
  outcome         text not null,               -- JSON
  event_count     integer not null,
  dropped         text not null,               -- JSON: reason → count
  response_status integer,
  replay_of       text,
  returned        text
) strict;
create index invocations_by_source on invocations (source_id, seq);

create table log_chunks (
  seq           integer primary key,
  source_id     text not null references deployed_components (id) on delete cascade,
  invocation_id text not null,
  lines         text not null                  -- JSON
) strict;
create index log_chunks_by_source on log_chunks (source_id);
create index log_chunks_by_invocation on log_chunks (invocation_id);

-- Triggers that were acknowledged before their run ended.
create table pending_requests (
  id          text primary key,
  source_id   text not null references deployed_components (id) on delete cascade,
  trigger     text not null,                   -- JSON
  received_at integer not null
) strict;

create table timers (
  source_id text not null references deployed_components (id) on delete cascade,
  prop      text not null,
  schedule  text not null,                     -- JSON
  catch_up  text not null,
  anchor_at integer not null,
  next_at   integer,
  primary key (source_id, prop)
) strict, without rowid;

-- What became of planned instants; one row may stand for several in a row.
create table timer_instants (
  source_id       text not null references deployed_components (id) on delete cascade,
  prop            text not null,
  planned_at      integer not null,
  last_planned_at integer not null,
  count           integer not null,
  state           text not null check (state in ('running', 'fired', 'coalesced', 'skipped')),
  invocation_id   text,
  reason          text,
  primary key (source_id, prop, planned_at)
) strict, without rowid;
