-- $.service.db of actions: by their key, or by the hash of code that has none.
create table action_state (
  action text not null,
  key    text not null,
  value  text not null,                        -- JSON
  primary key (action, key)
) strict, without rowid;
