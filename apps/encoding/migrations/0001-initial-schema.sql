-- An encode job. The catalogue creates it; the engine (src/engine) moves it from state to state.
create table job (
  job_id          bigint primary key,
  -- 'renditions' makes the renditions of a media, 'slides' those of a presentation, 'rendition' one additional rendition.
  kind            text not null default 'renditions' check (kind in ('renditions', 'slides', 'rendition')),
  -- The presentation id for slides. Empty for a job that was cancelled before it was created: the row rejects it.
  media_id        text not null,
  organisation_id text not null,
  -- `upload:ID` and `tus:ID` refer to an upload. Empty if the source is already stored.
  source_url      text not null,
  -- Remaining quota of the organisation when the job was accepted; null for no limit.
  max_bytes       bigint,
  max_seconds     double precision,
  -- Tasks of this job wait while tasks of normal jobs wait.
  low_priority    boolean not null default false,
  -- For kind 'rendition': the rendition, and the job whose set it is added to.
  rendition       jsonb,
  set_job_id      bigint,
  state           text not null check (state in ('queued', 'fetching', 'probing', 'encoding', 'publishing', 'ok', 'failed', 'cancelled')),
  progress        int not null default 5 check (progress between 0 and 100),
  -- Number of the attempt. Each internal fault adds one.
  attempt         int not null default 0 check (attempt between 0 and 3),
  -- Consecutive faults of the storage. They are usually temporary and do not count as attempts.
  storage_faults  int not null default 0,
  code            int not null default 0,
  message         text not null default '',
  -- The stored source: object, bytes, sha256.
  source          jsonb,
  probe           jsonb,
  plan            jsonb,
  -- Number of the plan, from 1.
  plan_number     int not null default 1,
  -- Whether a plan may copy the video stream of the source; false after a fault was found in it.
  can_copy_video  boolean not null default true,
  -- Set when the start of the video is playable and the catalogue is notified.
  is_playable     boolean not null default false,
  -- The published set, as it was reported.
  result          jsonb,
  -- Increases with every report to the catalogue.
  revision        bigint not null default 0,
  create_time     timestamptz(3) not null default now(),
  start_time      timestamptz(3),
  finish_time     timestamptz(3),
  -- Last check whether the catalogue needs the job, and the first check since which it does not.
  check_time      timestamptz(3) not null default now(),
  unneeded_time   timestamptz(3),
  -- The objects of the ended job are deleted, or marked for deletion. Such a job is not checked.
  is_dropped      boolean not null default false
);
create index job_running on job (state) where state in ('queued', 'fetching', 'probing', 'encoding', 'publishing');
create index job_check on job (check_time) where not is_dropped;
-- Jobs that read an upload. The upload is kept until they end.
create index job_upload_source on job (source_url) where source_url like 'upload:%' or source_url like 'tus:%';
create index job_slides_source on job ((source ->> 'object')) where kind = 'slides';

-- A chunk of a plan, which one task encodes. The last one is the audio of the whole. The engine writes it.
create table chunk (
  job_id         bigint not null references job,
  chunk          int not null,
  -- Share of the work, in expected CPU seconds.
  weight         double precision not null,
  -- Progress, 0 to 1.
  done           double precision not null default 0,
  -- Failed encodes. The chunk fails after three attempts of its own, so that one lost worker does not use up the
  -- attempts of a job with many chunks.
  faults         int not null default 0,
  storage_faults int not null default 0,
  -- Fence of the lease that completed it, 0 before. `prefix` is where the files are, `list` the object that lists them.
  fence          bigint not null default 0,
  prefix         text,
  list           text,
  -- Start of the last lease, and when its result was recorded. They measure the encoding speed.
  begin_time     timestamptz(3),
  end_time       timestamptz(3),
  primary key (job_id, chunk)
);
create index chunk_end on chunk (end_time) where end_time is not null;

-- A stored segment of a chunk. The engine writes it while the chunk is encoded and when it is complete.
create table segment (
  job_id  bigint not null,
  chunk   int not null,
  -- Relative to the prefix of the chunk.
  path    text not null,
  bytes   bigint not null,
  sha256  text not null,
  -- Duration in the playlist; 0 for a file that is not a segment. Playlists of unfinished videos are made from these rows.
  seconds double precision not null default 0,
  primary key (job_id, chunk, path),
  foreign key (job_id, chunk) references chunk
);
-- The files of one track.
create index segment_path on segment (job_id, path text_pattern_ops);

-- A prefix of objects in storage. The engine records it before the first object below it, and each lease has its own, so
-- unneeded objects are found without listing the storage. A failover can lose the job's row, so there is no foreign key.
create table object_prefix (
  prefix     text primary key,
  job_id     bigint not null,
  fence      bigint not null,
  -- Set when its objects are no longer needed.
  drop_time  timestamptz(3),
  -- A worker that lost its lease may still write, so the prefix is swept several times.
  sweeps     int not null default 0,
  next_sweep timestamptz(3)
);
create index object_prefix_job on object_prefix (job_id);
create index object_prefix_fence on object_prefix (fence);
create index object_prefix_sweep on object_prefix (next_sweep) where next_sweep is not null;

-- A worker process. A later process with the same name replaces it and ends its leases. Leasing a task writes it.
create table worker (
  worker_id   text primary key,
  name        text not null,
  seq         bigint generated always as identity,
  create_time timestamptz(3) not null default now()
);
create index worker_name on worker (name, seq);

-- A Kubernetes Job that encodes chunks. The executor inserts it before it creates the Kubernetes Job and derives the
-- Job's name from it, so a Job whose creation got no response is found again. Leases of the work queue decide which pod
-- encodes a chunk.
create table chunk_run (
  run_id      bigint generated always as identity primary key,
  job_id      bigint not null,
  -- The first chunk of each index of the Kubernetes Job, in order.
  chunks      int[] not null,
  create_time timestamptz(3) not null default now(),
  -- Set when the Kubernetes Job is no longer needed.
  end_time    timestamptz(3)
);
create unique index chunk_run_open on chunk_run (job_id) where end_time is null;
create index chunk_run_ended on chunk_run (end_time) where end_time is not null;

-- An item of the public work queue of system users. It is independent of `work_item`. QueueJobService writes it.
create table queue_job (
  job_id      bigint generated always as identity primary key,
  job_name    text not null,
  priority    int not null check (priority in (1, 10)),
  data        text not null,
  create_time timestamptz(3) not null default now(),
  -- End of its lease; null if it is not leased.
  lease_end   timestamptz(3)
);
create index queue_job_waiting on queue_job (priority desc, job_id) where lease_end is null;
create index queue_job_lease on queue_job (lease_end) where lease_end is not null;

-- An object that a client uploads under a signed policy. UploadService writes it.
create table upload (
  upload_id       uuid primary key default gen_random_uuid(),
  organisation_id text not null,
  -- The key in the policy.
  object          text not null unique,
  -- The client's name of the file; empty until it is known.
  filename        text not null default '',
  -- Null until the object is known to be stored.
  bytes           bigint,
  etag            text not null default '',
  create_time     timestamptz(3) not null default now(),
  -- It is removed after this time, unless a job still reads it.
  expire_time     timestamptz(3) not null,
  -- Set when it is about to be deleted. It is not returned any more.
  drop_time       timestamptz(3)
);
create index upload_expire on upload (expire_time);

-- A resumable upload by the tus protocol. The upload listener writes it.
create table tus_upload (
  upload_id          uuid primary key,
  organisation_id    text not null,
  -- Principal of the client, for whom the video is created.
  owner              jsonb not null,
  -- The header `Upload-Metadata` as received.
  metadata           text not null,
  title              text not null,
  filename           text not null,
  -- Null until it is known.
  length             bigint,
  -- Durable bytes and parts.
  received           bigint not null default 0,
  parts              int not null default 0,
  -- Fencing token of the last writer. Only its holder adds parts, until `lease_end` or until another writer replaces it.
  fence              int not null default 0,
  lease_end          timestamptz(3),
  -- Another request waits for the lease.
  is_lease_requested boolean not null default false,
  -- The video that it became.
  video_id           text,
  job_id             text,
  -- The final error, if no video can be created.
  error              jsonb,
  create_time        timestamptz(3) not null default now(),
  -- Last attempt to create the video. The oldest attempt comes first, so that rejected uploads do not delay others.
  try_time           timestamptz(3) not null default now(),
  expire_time        timestamptz(3) not null,
  drop_time          timestamptz(3),
  check (received <= length)
);
create index tus_upload_expire on tus_upload (expire_time);
create index tus_upload_complete on tus_upload (create_time) where received = length and video_id is null and error is null;

-- A stored part of a resumable upload. The upload listener writes it.
create table tus_part (
  upload_id uuid not null references tus_upload on delete cascade,
  part      int not null,
  object    text not null,
  bytes     bigint not null,
  primary key (upload_id, part)
);

-- A backup that copies objects. While a row is active, no object is deleted. Standalone's backup writes it.
create table sweep_hold (
  holder   uuid primary key,
  -- End of the hold. An active backup extends it.
  end_time timestamptz(3) not null
);

-- All names of objects that are, or may be, in storage. A name that ends with a slash means all objects below it.
-- Backups and the sweep of unknown objects read it.
create view stored_name as
select p.prefix || '/' as name,
       -- False if it is about to be deleted.
       p.drop_time is null as is_kept,
       -- True if its objects must exist.
       p.drop_time is null and p.prefix ~ '^(media|slides)/' and j.state = 'ok' and not j.is_dropped as is_required
  from object_prefix p left join job j using (job_id)
union all
select object, drop_time is null, drop_time is null and bytes is not null from upload
union all
select 'tus/' || upload_id || '/', drop_time is null, drop_time is null and received > 0 from tus_upload;

-- The size of each kept object, and its checksum if it was recorded. `npm run restore -- --verify` compares the objects
-- of a backup with it.
create view stored_checksum as
select source ->> 'object' as name, (source ->> 'bytes')::bigint as bytes, nullif(source ->> 'sha256', '') as sha256
  from job j where source is not null
    and exists (select from object_prefix p where p.job_id = j.job_id and p.drop_time is null and j.source ->> 'object' like p.prefix || '/%')
union all
select c.prefix || '/' || s.path, s.bytes, s.sha256
  from segment s join chunk c using (job_id, chunk) join object_prefix p on p.prefix = c.prefix and p.drop_time is null
union all
select p.prefix || '/' || (r ->> 'path'), (r ->> 'bytes')::bigint, null
  from object_prefix p join job j using (job_id), jsonb_array_elements(j.result -> 'renditions') r
  where p.drop_time is null and j.state = 'ok' and not j.is_dropped and p.prefix = j.result ->> 'prefix' and r ->> 'path' <> ''
union all
select object, bytes, null from upload where drop_time is null and bytes is not null
union all
select object, bytes, null from tus_part join tus_upload using (upload_id) where drop_time is null;
