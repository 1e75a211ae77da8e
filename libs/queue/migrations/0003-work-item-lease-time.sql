-- Start of the last lease. Null before it, and if a service of the previous version leased the item.
alter table work_item add column lease_time timestamptz(3);
