-- Start of the last lease. Null before it, and if a service of the previous version leased the item.
alter table work_item add column lease_time timestamptz(3);
-- Time of the last request for a task. Null if only services of the previous version received requests.
alter table worker add column seen_time timestamptz(3);
