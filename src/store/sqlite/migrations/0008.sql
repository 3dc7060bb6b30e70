-- How many runs of a source go on at the same time; null: as many as the server allows.
alter table deployed_components add column max_concurrency integer;
