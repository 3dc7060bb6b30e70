-- How an account gets new tokens by itself, JSON; and why it cannot be used any more.
alter table accounts add column oauth text;
alter table accounts add column problem text;
