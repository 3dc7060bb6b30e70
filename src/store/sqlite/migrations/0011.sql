-- Paths of the modules that are loaded before a component, JSON: told of its sources without reading its code.
alter table saved_components add column imports text not null default '[]';
update saved_components set imports = (select json_group_array(value ->> 'path') from json_each(saved_components.code, '$.imports'))
  where json_type(code, '$.imports') = 'array';
-- Counts the changes of an account.
alter table accounts add column revision integer not null default 0;
