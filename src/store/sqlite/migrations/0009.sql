-- How many transactions were committed; a file beside the database tells how many have to be there.
create table commits (
  count integer not null
) strict;
insert into commits (count) values (0);
