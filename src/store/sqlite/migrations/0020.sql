-- Settings of a source are one JSON object: a new setting needs no column.
alter table deployed_components add column settings text not null default '{}';
update deployed_components set settings = json_patch(
  case when max_concurrency is null then '{}' else json_object('max_concurrency', max_concurrency) end,
  case when allows_programs = 1 then json_object('allow_run', json('true')) else '{}' end);
alter table deployed_components drop column max_concurrency;
alter table deployed_components drop column allows_programs;
