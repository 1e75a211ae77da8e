create table presentation (
  presentation_id bigint primary key,
  organisation_id bigint not null references organisation,
  user_id         text not null,
  -- The video that it accompanies. One that is gone stays named: what was protected must not be open because its video was deleted.
  video_id        bigint,
  -- Of the first file; empty before.
  filename        text not null default '',
  title           text not null,
  description     text not null,
  -- What the last file came to; whether timings are missing is seen from them.
  state           text not null default 'ready' check (state in ('processing', 'ready', 'failed')),
  progress        smallint not null default 0 check (progress between 0 and 100),
  code            int not null default 0,
  reason          text not null default '',
  -- The second at which each slide appears, null until it is told; as long as there are slides.
  seconds         int[] not null default '{}',
  create_time     timestamptz(3) not null default now()
);

-- What was asked of encoding. Rows outlive their presentation, so that late reports meet an answer. Ids are shared with jobs of media.
create table presentation_job (
  job_id          bigint primary key default nextval('job_job_id_seq'),
  presentation_id bigint not null,
  organisation_id bigint not null,
  state           text not null check (state in ('queued', 'running', 'ok', 'failed', 'cancelled')),
  -- Of one object slides are made once; null when the presentation is gone.
  source_object   text unique,
  source_bytes    bigint not null,
  filename        text not null,
  -- Of the last report taken.
  revision        bigint not null default -1,
  create_time     timestamptz(3) not null default now(),
  finish_time     timestamptz(3),
  -- When it was last heard of, or asked after.
  news_time       timestamptz(3) not null default now(),
  -- Since when encoding says that it has ended, while no report came.
  ended_since     timestamptz(3),
  -- How often it was handed to encoding once more.
  handovers       smallint not null default 0
);
-- Files of a presentation are processed one after another, so that slides stand in the order of their files.
create unique index presentation_job_standing on presentation_job (presentation_id) where state in ('queued', 'running');
create index presentation_job_presentation on presentation_job (presentation_id);
create index presentation_job_quiet on presentation_job (news_time) where state in ('queued', 'running');

-- The slides of one file; those of a later job stand behind those of an earlier one.
create table slide_set (
  job_id          bigint primary key,
  presentation_id bigint not null references presentation on delete cascade,
  -- The path segment of its files.
  version         text not null default new_delivery_version(),
  prefix          text not null,
  -- {path, thumbnailPath, width, height} by page.
  slides          jsonb not null,
  document_path   text not null,
  bytes           bigint not null
);
create index slide_set_presentation on slide_set (presentation_id, job_id);

-- Videos that name a presentation let go of it when it is deleted.
create index video_presentation on video (presentation_id) where presentation_id <> '';
