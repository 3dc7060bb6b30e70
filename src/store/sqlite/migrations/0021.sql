-- What happened in each step of time, for charts.
create table tallies (
  scope text not null,            -- id of a source or workflow; '' is the whole server
  step text not null,             -- 'fine' is 5 minutes, 'coarse' is an hour
  at integer not null,            -- start of the step, epoch ms
  runs integer not null,
  failures integer not null,
  events integer not null,
  delivered integer not null,
  undelivered integer not null,
  durations text not null,        -- JSON list: runs by duration
  primary key (scope, step, at)
) without rowid;
