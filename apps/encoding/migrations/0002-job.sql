create table job (
  job_id          bigint primary key,
  -- Empty when the job was cancelled before it came: the row is then there to refuse it.
  media_id        text not null,
  organisation_id text not null,
  source_url      text not null,
  state           text not null check (state in ('queued', 'fetching', 'probing', 'encoding', 'publishing', 'ok', 'failed', 'cancelled')),
  progress        int not null default 5 check (progress between 0 and 100),
  -- Which try it is: one more for each fault of ours.
  attempt         int not null default 0 check (attempt between 0 and 3),
  code            int not null default 0,
  message         text not null default '',
  -- What was fetched: object, bytes, sha256.
  source          jsonb,
  -- What the probe found.
  probe           jsonb,
  plan            jsonb,
  -- The published set, as it was reported.
  result          jsonb,
  -- Grows with every report to catalogue.
  revision        bigint not null default 0,
  create_time     timestamptz(3) not null default now(),
  start_time      timestamptz(3),
  finish_time     timestamptz(3),
  -- When catalogue was last asked whether it wants the job, and when it first said no.
  check_time      timestamptz(3) not null default now(),
  unwanted_time   timestamptz(3),
  -- The objects of a finished job are gone, or going: there is nothing left to ask about.
  is_dropped      boolean not null default false
);
create index job_running on job (state) where state in ('queued', 'fetching', 'probing', 'encoding', 'publishing');
create index job_check on job (check_time) where not is_dropped;

-- The parts of a plan that are encoded one by one.
create table chunk (
  job_id     bigint not null references job,
  chunk      int not null,
  -- What share of the work it is, in frames or any other unit.
  weight     double precision not null,
  -- How much of it is done, 0 to 1.
  done       double precision not null default 0,
  -- Of the lease that finished it; 0 before. Where it put the files, and which object lists them.
  fence      int not null default 0,
  prefix     text,
  list       text,
  primary key (job_id, chunk)
);

-- What a finished chunk left in storage.
create table segment (
  job_id     bigint not null,
  chunk      int not null,
  -- Relative to the prefix of the chunk.
  path       text not null,
  bytes      bigint not null,
  sha256     text not null,
  primary key (job_id, chunk, path),
  foreign key (job_id, chunk) references chunk
);

-- Where objects may be. A prefix is written down before the first object below it, and each lease has its own: so whatever lies in
-- storage has a row here, and what is no longer wanted is found without a look through the storage.
create table object_prefix (
  prefix      text primary key,
  job_id      bigint not null references job,
  fence       int not null,
  -- Set when its objects are no longer wanted.
  drop_time   timestamptz(3),
  -- Somebody who has lost his lease may still be writing: it is swept several times.
  sweeps      int not null default 0,
  next_sweep  timestamptz(3)
);
create index object_prefix_job on object_prefix (job_id);
create index object_prefix_fence on object_prefix (fence);
create index object_prefix_sweep on object_prefix (next_sweep) where next_sweep is not null;

-- Workers by process. A second process under a name takes the place of the first, whose leases are then over.
create table worker (
  worker_id   text primary key,
  name        text not null,
  seq         bigint generated always as identity,
  create_time timestamptz(3) not null default now()
);
create index worker_name on worker (name, seq);
