-- Who is told when something is wrong.
create table alerts (
  id text primary key,
  scope text references deployed_components (id) on delete cascade,   -- null: everything on the server
  via text not null,               -- 'mail', or the id of a webhook
  is_daily integer not null,       -- also a summary of each day
  created_at integer not null      -- epoch ms
);
create index alerts_scope on alerts (scope);
