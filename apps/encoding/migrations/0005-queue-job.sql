-- The work queue of system users, under leases or without; apart from the platform's own work.
create table queue_job (
  job_id      bigint generated always as identity primary key,
  job_name    text not null,
  priority    int not null check (priority in (1, 10)),
  data        text not null,
  create_time timestamptz(3) not null default now(),
  -- Until when it is out under a lease.
  lease_end   timestamptz(3)
);
create index queue_job_line on queue_job (priority desc, job_id) where lease_end is null;
create index queue_job_lease on queue_job (lease_end) where lease_end is not null;
