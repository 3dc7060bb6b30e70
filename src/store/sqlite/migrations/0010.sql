-- Whether a source may start programs of the machine, inside the wall.
alter table deployed_components add column allows_programs integer not null default 0;
