-- Uploads that come in parts and go on after a break, by the tus protocol.
create table tus_upload (
  upload_id       uuid primary key,
  organisation_id text not null,
  -- Who uploads, as the gateway said: the video is made on his behalf.
  owner           jsonb not null,
  -- As it was sent, for whoever asks again.
  metadata        text not null,
  title           text not null,
  filename        text not null,
  -- Null until it is told.
  length          bigint,
  -- What is durable.
  received        bigint not null default 0,
  parts           int not null default 0,
  -- Who writes: only the holder of the last number adds parts, and only until another one takes his place.
  fence           int not null default 0,
  lease_end       timestamptz(3),
  is_wanted       boolean not null default false,
  -- What became of it.
  video_id        text,
  job_id          text,
  -- Why it became nothing, as its uploader is told.
  refusal         jsonb,
  create_time     timestamptz(3) not null default now(),
  expire_time     timestamptz(3) not null,
  drop_time       timestamptz(3),
  check (received <= length)
);
create index tus_upload_expire on tus_upload (expire_time);
create index tus_upload_complete on tus_upload (create_time) where received = length and video_id is null and refusal is null;

create table tus_part (
  upload_id uuid not null references tus_upload on delete cascade,
  part      int not null,
  object    text not null,
  bytes     bigint not null,
  primary key (upload_id, part)
);
