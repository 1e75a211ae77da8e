-- Whether the plan of a job may copy the picture of its source (not once that was seen to be faulty), and which of its plans it has.
alter table job
  add column copies boolean not null default true,
  add column plan_number integer not null default 1;
