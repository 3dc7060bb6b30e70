-- Keys of those who may look and change nothing.
alter table api_keys add column read_only integer not null default 0;
