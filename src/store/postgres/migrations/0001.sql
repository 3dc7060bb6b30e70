-- Text whose order matters is compared by bytes (collate "C"), as in SQLite. Times are epoch ms. JSON is kept as text,
-- because jsonb refuses \u0000 and forgets the order of members.
create table identity (
  user_id      text collate "C" not null,
  workspace_id text not null
);

create table saved_components (
  seq              bigint generated always as identity,
  id               text collate "C" primary key,
  key              text,
  hash             text not null,
  code             text not null,               -- JSON: path, text, files
  imports          text not null,               -- JSON: paths of the modules that are loaded before
  origin           text not null,               -- JSON
  bundle           text not null,               -- JSON: code, map, packages, imports
  definition       text not null,               -- JSON
  declared_version text not null,
  lock             text not null,               -- JSON: package name → version
  packages_folder  text,
  is_transient     boolean not null,
  created_at       bigint not null
);
create index saved_components_by_key on saved_components (key, created_at) where key is not null;

-- Instances of saved components. `is_ready` is false while the deploy hooks run; a restart removes such rows.
create table deployed_components (
  seq             bigint generated always as identity,
  id              text collate "C" primary key,
  component_id    text collate "C" not null references saved_components (id),
  version         bigint not null,
  highest_version bigint not null default 0,    -- of versions that were taken back
  name            text not null,
  slug            text not null unique,
  endpoint_key    text not null unique,
  configured      text not null,                -- JSON
  set_aside       text not null,                -- JSON: values that the code does not declare any more
  dynamic_props   text not null,                -- JSON
  env             text not null,                -- JSON
  settings        text not null,                -- JSON
  active          boolean not null,
  is_ready        boolean not null,
  activate_due    boolean not null default false, -- deactivate has run, so a restart runs activate
  workflow_id     text collate "C" references deployed_components (id) on delete cascade,
  created_at      bigint not null,
  updated_at      bigint not null
);
create index deployed_components_by_component on deployed_components (component_id);
create index deployed_components_by_workflow on deployed_components (workflow_id) where workflow_id is not null;

-- Each code that a source ran on. `first_seq`: calls that are stored later may have run on it.
create table source_versions (
  source_id    text collate "C" not null references deployed_components (id) on delete cascade,
  number       bigint not null,
  component_id text collate "C" not null references saved_components (id),
  at           bigint not null,
  first_seq    bigint not null,
  primary key (source_id, number)
);
create index source_versions_by_component on source_versions (component_id);

-- What the steps of a workflow's code run on.
create table step_components (
  workflow_component_id text collate "C" not null references saved_components (id) on delete cascade,
  namespace             text collate "C" not null,
  component_id          text collate "C" not null references saved_components (id),
  primary key (workflow_component_id, namespace)
);
create index step_components_by_component on step_components (component_id);

-- What changes with every run of a source. Whoever writes events, runs, state or logs of a source locks its row first,
-- so rows of a deleted source cannot appear, and those tables need no foreign key.
create table source_progress (
  source_id text collate "C" primary key references deployed_components (id) on delete cascade,
  fence     bigint not null default 0,
  last_seq  bigint not null default 0,
  gone      bigint not null default 0,          -- numbers of events whose events were deleted
  cache     text not null default '{}'          -- JSON: dedupe cache
) with (fillfactor = 50);

-- $.service.db
create table state (
  source_id text collate "C" not null,
  key       text collate "C" not null,
  value     text not null                       -- JSON
) with (fillfactor = 80);
-- By hash, because a key may be longer than an index takes.
create unique index state_by_key on state (source_id, md5(key));

-- $.service.db of actions: by their key, or by the hash of code that has none.
create table action_state (
  action text collate "C" not null,
  key    text collate "C" not null,
  value  text not null                          -- JSON
);
create unique index action_state_by_key on action_state (action, md5(key));

create table events (
  source_id     text collate "C" not null,
  seq           bigint not null,
  stored_at     bigint not null,
  channel       text not null,
  dedupe_id     text,
  summary       text,
  ts            bigint,
  invocation_id text collate "C" not null,
  payload       text not null,
  again_of      bigint,                         -- number of the event that this one repeats
  primary key (source_id, seq)
) with (autovacuum_vacuum_scale_factor = 0.01);

create table invocations (
  seq             bigint generated always as identity primary key,
  id              text collate "C" not null unique,
  source_id       text collate "C" not null,
  trigger         text not null,                -- JSON
  started_at      bigint not null,
  duration_ms     double precision not null,
  outcome         text not null,                -- JSON
  event_count     bigint not null,
  dropped         text not null,                -- JSON: reason → count
  response_status integer,
  replay_of       text,
  returned        text,
  version         bigint
) with (autovacuum_vacuum_scale_factor = 0.01);
create index invocations_by_source on invocations (source_id, seq);

-- A server takes blocks of numbers from the sequence, so that it knows them before it writes.
create sequence log_chunk_blocks increment by 1000 minvalue 1;
create table log_chunks (
  seq           bigint primary key,
  source_id     text collate "C" not null,
  invocation_id text collate "C" not null,
  lines         text not null                   -- JSON
) with (autovacuum_vacuum_scale_factor = 0.01);
create index log_chunks_by_source on log_chunks (source_id);
create index log_chunks_by_invocation on log_chunks (invocation_id, seq);

-- Triggers that were acknowledged before their run ended.
create table pending_requests (
  id          text collate "C" primary key,
  source_id   text collate "C" not null references deployed_components (id) on delete cascade,
  trigger     text not null,                    -- JSON
  received_at bigint not null
);
create index pending_requests_by_source on pending_requests (source_id);

-- Events that are emitted at a later time.
create table postponed_events (
  seq           bigint generated always as identity primary key,
  source_id     text collate "C" not null references deployed_components (id) on delete cascade,
  due_at        bigint not null,
  stored_at     bigint not null,
  channel       text not null,
  dedupe_id     text,
  summary       text,
  ts            bigint,
  invocation_id text collate "C" not null,
  payload       text not null
);
create index postponed_events_by_time on postponed_events (due_at, seq);
create index postponed_events_by_source on postponed_events (source_id, seq);

create table timers (
  source_id text collate "C" not null references deployed_components (id) on delete cascade,
  prop      text collate "C" not null,
  schedule  text not null,                      -- JSON
  catch_up  text not null,
  anchor_at bigint not null,
  next_at   bigint,
  primary key (source_id, prop)
);

-- What became of planned instants; one row may stand for several in a row.
create table timer_instants (
  source_id       text collate "C" not null references deployed_components (id) on delete cascade,
  prop            text collate "C" not null,
  planned_at      bigint not null,
  last_planned_at bigint not null,
  count           bigint not null,
  state           text not null check (state in ('running', 'fired', 'coalesced', 'skipped')),
  invocation_id   text,
  reason          text,
  primary key (source_id, prop, planned_at)
);
create index timer_instants_running on timer_instants (source_id, prop, planned_at) where state = 'running';

-- Named keys beside the one in PD_HOME/api-key; only their hash is kept.
create table api_keys (
  seq        bigint generated always as identity,
  id         text primary key,
  name       text not null unique,
  hash       text not null unique,              -- SHA-256, hex
  read_only  boolean not null,
  created_at bigint not null
);

create table webhooks (
  seq             bigint generated always as identity,
  id              text collate "C" primary key,
  url             text not null,
  name            text,
  description     text,
  active          boolean not null,
  secret          text not null,
  old_secrets     text not null,                -- JSON: [{ secret, until }]
  failing_since   bigint,
  inactive_reason text,
  created_at      bigint not null,
  updated_at      bigint not null
);

-- `emitter_key`: what emitter_id stands for when a source looks for its listeners.
create table subscriptions (
  seq         bigint generated always as identity,
  id          text primary key,
  emitter_id  text not null,
  emitter_key text not null,
  listener_id text not null,
  channel     text not null,
  created_at  bigint not null
);
create unique index subscriptions_once on subscriptions (emitter_id, listener_id, md5(channel));
create index subscriptions_by_emitter on subscriptions (emitter_key);
create index subscriptions_by_listener on subscriptions (listener_id);

create table auto_subscriptions (
  channel     text collate "C" not null,
  listener_id text collate "C" not null,
  primary key (channel, listener_id)
);

-- Changes whenever a subscription or the activity of a listener does. A commit that knew an earlier version writes
-- nothing, and the server reads the listeners again.
create table listeners_version (
  version bigint not null
);
insert into listeners_version (version) values (0);
create function count_listeners_version() returns trigger language plpgsql as $$
begin
  update listeners_version set version = version + 1;
  return null;
end $$;
create trigger subscriptions_changed after insert or update or delete on subscriptions
  for each statement execute function count_listeners_version();
create trigger webhooks_changed after insert or update of active or delete on webhooks
  for each statement execute function count_listeners_version();
create trigger sources_changed after update of active or delete on deployed_components
  for each statement execute function count_listeners_version();

-- One message for one listener, written in the transaction of its event.
create table deliveries (
  seq         bigint generated always as identity primary key,
  listener_id text collate "C" not null,
  message_id  text collate "C" not null,
  emitter_id  text collate "C" not null,
  channel     text not null,
  payload     text not null,
  state       text not null check (state in ('pending', 'delivered', 'failed', 'missed')),
  attempts    bigint not null default 0,
  next_at     bigint,
  created_at  bigint not null,
  unique (listener_id, message_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);
create index deliveries_due on deliveries (listener_id, next_at, seq) where state = 'pending';
create index deliveries_pending_of on deliveries (emitter_id) where state = 'pending';
create index deliveries_by_listener on deliveries (listener_id, seq);
create index deliveries_by_state on deliveries (listener_id, state, seq);
create index deliveries_by_message on deliveries (message_id);

create table attempts (
  seq         bigint generated always as identity primary key,
  delivery    bigint not null references deliveries (seq) on delete cascade,
  at          bigint not null,
  duration_ms double precision not null,
  result      text not null                     -- JSON
);
create index attempts_by_delivery on attempts (delivery, seq);

-- Key-value stores that several components share.
create table data_stores (
  name       text collate "C" primary key,
  created_at bigint not null
);
create table data_store_values (
  store      text collate "C" not null references data_stores (name) on delete cascade,
  key        text collate "C" not null,
  value      text not null,                     -- JSON
  expires_at bigint                             -- null: it stays
);
create unique index data_store_values_by_key on data_store_values (store, md5(key));
create index data_store_values_expiring on data_store_values (store, expires_at) where expires_at is not null;

-- Where components are found by key, in the order of `position`.
create table registries (
  name     text collate "C" primary key,
  kind     text not null check (kind in ('folder', 'npm', 'git', 'tarball')),
  location text not null,
  position bigint not null
);
-- The packages in which the public components are published.
insert into registries (name, kind, location, position) values ('pipedream', 'npm', '@pipedream', 1);

-- Credentials for apps.
create table accounts (
  id          text collate "C" primary key,
  app         text collate "C" not null,
  name        text collate "C" not null,
  credentials text not null,                    -- JSON
  oauth       text,                             -- JSON: how the account gets new tokens
  problem     text,                             -- why it cannot be used any more
  revision    bigint not null default 0,        -- counts its changes
  created_at  bigint not null,
  updated_at  bigint not null,
  unique (app, name)
);

create table workflow_runs (
  seq         bigint generated always as identity primary key,
  id          text collate "C" not null unique,
  workflow_id text collate "C" not null references deployed_components (id) on delete cascade,
  version     bigint not null,
  trigger     text not null,                    -- JSON
  message_id  text collate "C",
  state       text not null check (state in ('running', 'waiting', 'succeeded', 'failed', 'cancelled')),
  started_at  bigint not null,
  ended_at    bigint,
  failure     text,                             -- JSON
  reason      text,
  rerun_of    text collate "C",
  from_step   text,
  wakes       bigint not null default 0,        -- waits of its steps that are over
  unique (workflow_id, message_id)
);
create index workflow_runs_by_origin on workflow_runs (rerun_of) where rerun_of is not null;
create index workflow_runs_by_state on workflow_runs (workflow_id, state, seq);
create index workflow_runs_by_workflow on workflow_runs (workflow_id, seq);
create index workflow_runs_at_work on workflow_runs (workflow_id) where state = 'running';
create index workflow_runs_begun on workflow_runs (workflow_id, started_at) where message_id is not null;

-- A step of a run as it was the last time.
create table workflow_steps (
  run_seq bigint not null references workflow_runs (seq) on delete cascade,
  path    text collate "C" not null,
  noted   bigint not null,                      -- counts the notes of its run
  state   text not null check (state in ('begun', 'waiting', 'again', 'done', 'failed')),
  until   bigint,                               -- only while it waits
  token   text,                                 -- only while it waits
  record  text not null,                        -- JSON
  primary key (run_seq, path)
);
create index workflow_steps_by_note on workflow_steps (run_seq, noted);
create index workflow_steps_waiting on workflow_steps (until) where state = 'waiting';
create unique index workflow_steps_by_token on workflow_steps (token) where token is not null;

-- What third parties answered a step, sealed.
create table workflow_recordings (
  run_seq   bigint not null references workflow_runs (seq) on delete cascade,
  path      text collate "C" not null,
  exchanges text not null,
  primary key (run_seq, path)
);
