-- Endpoints and schedules that belong to a workflow, which is a deployed component itself, and go with it.
alter table deployed_components add column workflow_id text references deployed_components (id) on delete cascade;
create index deployed_components_by_workflow on deployed_components (workflow_id) where workflow_id is not null;

-- A user or a workspace stands for workflows as well, where it stood for all sources.
update subscriptions set emitter_key = '*' where emitter_key = 'dc_*' and emitter_id <> 'dc_*';

-- What the steps of a workflow's code run on.
create table step_components (
  workflow_component_id text not null references saved_components (id) on delete cascade,
  namespace             text not null,
  component_id          text not null references saved_components (id),
  primary key (workflow_component_id, namespace)
) strict, without rowid;
create index step_components_by_component on step_components (component_id);

create table workflow_runs (
  seq         integer primary key,
  id          text not null unique,
  workflow_id text not null references deployed_components (id) on delete cascade,
  version     integer not null,
  trigger     text not null,                   -- JSON
  message_id  text,
  state       text not null check (state in ('running', 'waiting', 'succeeded', 'failed', 'cancelled')),
  started_at  integer not null,
  ended_at    integer,
  failure     text,                            -- JSON
  reason      text,
  rerun_of    text,
  from_step   text,
  wakes       integer not null default 0,      -- waits of its steps that are over
  unique (workflow_id, message_id)
) strict;
create index workflow_runs_by_origin on workflow_runs (rerun_of) where rerun_of is not null;
create index workflow_runs_by_state on workflow_runs (workflow_id, state, seq);
create index workflow_runs_by_workflow on workflow_runs (workflow_id, seq);
create index workflow_runs_at_work on workflow_runs (workflow_id) where state = 'running';
create index workflow_runs_begun on workflow_runs (workflow_id, started_at) where message_id is not null;

-- A step of a run as it was the last time.
create table workflow_steps (
  run_seq  integer not null references workflow_runs (seq) on delete cascade,
  path     text not null,
  noted    integer not null,                   -- counts the notes of its run
  state    text not null check (state in ('begun', 'waiting', 'again', 'done', 'failed')),
  until    integer,                            -- only while it waits
  token    text,                               -- only while it waits
  record   text not null,                      -- JSON
  primary key (run_seq, path)
) strict, without rowid;
-- What third parties answered a step, sealed.
create table workflow_recordings (
  run_seq   integer not null references workflow_runs (seq) on delete cascade,
  path      text not null,
  exchanges text not null,
  primary key (run_seq, path)
) strict;

create index workflow_steps_by_note on workflow_steps (run_seq, noted);
create index workflow_steps_waiting on workflow_steps (until) where state = 'waiting';
create unique index workflow_steps_by_token on workflow_steps (token) where token is not null;
