-- Credentials for apps.
create table accounts (
  id          text primary key,
  app         text not null,
  name        text not null,
  credentials text not null,                   -- JSON
  created_at  integer not null,
  updated_at  integer not null,
  unique (app, name)
) strict, without rowid;
