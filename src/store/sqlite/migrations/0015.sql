-- Number of the event that this one repeats, by somebody's hand: no run has emitted it.
alter table events add column again_of integer;
-- Numbers of versions that were taken back: calls may have run on them.
alter table deployed_components add column highest_version integer not null default 0;
