-- Whether the plan of a job may copy the picture of its source: not once that was seen to be faulty.
alter table job add column copies boolean not null default true;
