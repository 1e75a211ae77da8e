-- Counts of the views of each UTC day: what reports read. Only the merge writes them, under its lock, by the difference that events made.
create table organisation_day (
  organisation_id bigint not null,
  day             date not null,
  language        text not null,
  subtitle        text not null,
  loads           bigint not null,
  plays           bigint not null,
  completes       bigint not null,
  bounces         bigint not null,
  primary key (organisation_id, day, language, subtitle)
);

create table video_day (
  video_id        bigint not null,
  day             date not null,
  language        text not null,
  organisation_id bigint not null,
  loads           bigint not null,
  plays           bigint not null,
  completes       bigint not null,
  bounces         bigint not null,
  -- Of played views: millionths of the duration, and milliseconds, both of distinct seconds watched.
  share_ppm       bigint not null,
  viewing_ms      bigint not null,
  -- 21 numbers each, for 0, 5, … 100 %.
  buckets         bigint[] not null,
  furthest        bigint[] not null,
  primary key (video_id, day, language)
);
create index video_day_export on video_day (organisation_id, day, video_id, language);

-- Played views that watched each cell; a row for each duration that the video had.
create table video_heat (
  video_id    bigint not null,
  day         date not null,
  duration_ms int not null,
  views       bigint not null,
  watched     bigint[] not null,
  rewatched   bigint[] not null,
  primary key (video_id, day, duration_ms)
);

create table video_quality (
  video_id   bigint not null,
  day        date not null,
  views      bigint not null,
  started    bigint not null,
  startup_ms bigint not null,
  stalled    bigint not null,
  stalls     bigint not null,
  stalled_ms bigint not null,
  failed     bigint not null,
  primary key (video_id, day)
);

-- Video 0 is the whole organisation.
create table viewer_day (
  organisation_id bigint not null,
  video_id        bigint not null,
  day             date not null,
  viewers         bigint not null,
  primary key (organisation_id, video_id, day)
);
