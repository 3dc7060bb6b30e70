-- A row for each connection, with the number of its last transaction that changed something. It tells whether a
-- transaction whose answer was lost is stored. PostgreSQL's own numbers do not: after a crash it gives them again.
create table write_marks (
  connection text primary key,
  number bigint not null,
  at timestamptz not null default now()
);
