-- What happened in each step of time, for charts.
create table tallies (
  scope text collate "C" not null,            -- id of a source or workflow; '' is the whole server
  step text collate "C" not null,             -- 'fine' is 5 minutes, 'coarse' is an hour
  at bigint not null,             -- start of the step, epoch ms
  runs bigint not null,
  failures bigint not null,
  events bigint not null,
  delivered bigint not null,
  undelivered bigint not null,
  durations text not null,        -- JSON list: runs by duration
  primary key (scope, step, at)
);
