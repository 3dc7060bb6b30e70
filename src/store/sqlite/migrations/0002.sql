-- Who owns this server, as clients of the API see it.
create table identity (
  user_id      text not null,
  workspace_id text not null
) strict;

-- Named keys beside the one in PD_HOME/api-key; only their hash is kept.
create table api_keys (
  id         text primary key,
  name       text not null unique,
  hash       text not null unique,             -- SHA-256, hex
  created_at integer not null
) strict;

create table webhooks (
  id              text primary key,
  url             text not null,
  name            text,
  description     text,
  active          integer not null,
  secret          text not null,
  old_secrets     text not null,               -- JSON: [{ secret, until }]
  failing_since   integer,
  inactive_reason text,
  created_at      integer not null,
  updated_at      integer not null
) strict;

-- `emitter_key`: what emitter_id stands for when a source looks for its listeners.
create table subscriptions (
  id          text primary key,
  emitter_id  text not null,
  emitter_key text not null,
  listener_id text not null,
  channel     text not null,
  created_at  integer not null,
  unique (emitter_id, listener_id, channel)
) strict;
create index subscriptions_by_emitter on subscriptions (emitter_key);
create index subscriptions_by_listener on subscriptions (listener_id);

create table auto_subscriptions (
  channel     text not null,
  listener_id text not null,
  primary key (channel, listener_id)
) strict, without rowid;

-- One message for one listener, written in the transaction of its event.
create table deliveries (
  seq         integer primary key autoincrement,
  listener_id text not null,
  message_id  text not null,
  emitter_id  text not null,
  channel     text not null,
  payload     text not null,
  state       text not null check (state in ('pending', 'delivered', 'failed', 'missed')),
  attempts    integer not null default 0,
  next_at     integer,
  created_at  integer not null,
  unique (listener_id, message_id)
) strict;
create index deliveries_due on deliveries (listener_id, next_at, seq) where state = 'pending';
create index deliveries_by_listener on deliveries (listener_id, seq);
create index deliveries_by_state on deliveries (listener_id, state, seq, created_at);

create table attempts (
  seq         integer primary key,
  delivery    integer not null references deliveries (seq) on delete cascade,
  at          integer not null,
  duration_ms real not null,
  result      text not null                    -- JSON
) strict;
create index attempts_by_delivery on attempts (delivery);
