-- What the catalogue said last of videos with events; those that are gone since keep their reports.
create table video (
  video_id        bigint primary key,
  organisation_id bigint not null,
  -- Null while nothing of it plays.
  duration_ms     int,
  title           text not null default '',
  media_title     text not null default '',
  description     text not null default '',
  language        text not null default '',
  ask_time        timestamptz(3) not null default now()
);
create index video_organisation on video (organisation_id, video_id);
