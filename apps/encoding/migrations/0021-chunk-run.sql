-- Runs: the Kubernetes Jobs that encode chunks, where those are the executor. A run says who is to ask for which chunks, and no more: leases of
-- the work queue decide who makes one. A row is there before its Job, whose name comes from it, so that a Job is found again whose creation
-- was never answered. Only adds a table.
create table chunk_run (
  run_id      bigint generated always as identity primary key,
  job_id      bigint not null,
  -- The chunk of each index of the Job, in order.
  chunks      int[] not null,
  create_time timestamptz(3) not null default now(),
  -- Set when its Job is of no use any more.
  end_time    timestamptz(3)
);
create unique index chunk_run_open on chunk_run (job_id) where end_time is null;
create index chunk_run_ended on chunk_run (end_time) where end_time is not null;
