-- A value of a data store may go by itself.
alter table data_store_values add column expires_at integer;   -- epoch ms; null: it stays
create index data_store_values_expiring on data_store_values (store, expires_at) where expires_at is not null;
