-- How often in a row the storage has failed a job, or a chunk of it. That is no fault of the job's, and most stores come back: it has tries of
-- its own, over a quarter of an hour, and uses up no attempt.
alter table job add column storage_faults int not null default 0;
alter table chunk add column storage_faults int not null default 0;
