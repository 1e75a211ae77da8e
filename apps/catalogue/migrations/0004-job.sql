-- What was asked of encoding. Rows outlive their media, so that late reports meet an answer.
create table job (
  job_id          bigint generated always as identity primary key,
  video_id        bigint not null,
  media_id        bigint not null,
  organisation_id bigint not null,
  action          text not null check (action in ('new_video', 'replace')),
  state           text not null check (state in ('queued', 'running', 'ok', 'failed', 'cancelled')),
  progress        smallint not null check (progress between 0 and 100),
  code            int not null default 0,
  message         text not null default '',
  source_url      text not null,
  notify          boolean not null,
  user_id         text not null,
  -- Of the last report taken.
  revision        bigint not null default -1,
  create_time     timestamptz(3) not null default now(),
  start_time      timestamptz(3),
  finish_time     timestamptz(3),
  -- When it was last heard of, or asked after.
  news_time       timestamptz(3) not null default now(),
  -- Since when encoding says that it has ended, while no report came.
  ended_since     timestamptz(3),
  -- How often it was handed to encoding once more.
  handovers       smallint not null default 0
);
-- A media has at most one job under way.
create unique index job_standing on job (media_id) where state in ('queued', 'running');
create index job_quiet on job (news_time) where state in ('queued', 'running');

create table deletion (
  media_id        bigint primary key,
  organisation_id bigint not null,
  -- On whose behalf, and whose key it was.
  user_id         text not null,
  caller_id       text not null,
  notes           text not null,
  delete_time     timestamptz(3) not null default now()
);
