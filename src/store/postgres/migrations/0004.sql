-- Who is told when something is wrong.
create table alerts (
  id text collate "C" primary key,
  scope text collate "C" references deployed_components (id) on delete cascade,   -- null: everything on the server
  via text not null,               -- 'mail', or the id of a webhook
  is_daily boolean not null,       -- also a summary of each day
  created_at bigint not null       -- epoch ms
);
create index alerts_scope on alerts (scope);
