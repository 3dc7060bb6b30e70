-- Values of props that the code of a source does not declare any more: an update that declares them again finds them.
alter table deployed_components add column set_aside text not null default '{}';
