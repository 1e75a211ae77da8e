-- The process that wrote an insert, by a random id of its own: what it has at hand of it counts only where the insert is its own. Numbers of inserts may come
-- again after a failover. Null where a release before wrote it: then it is read.
alter table pending_batch add column writer uuid;
