-- An event of a player. Partitioned by the UTC day of the event. The service creates and drops
-- partitions.
create table event (
  -- The batch with which it was inserted.
  batch_id        bigint not null,
  day             date not null,
  at_ms           bigint not null,
  received_ms     bigint not null,
  organisation_id bigint not null,
  video_id        bigint not null,
  view_id         uuid not null,
  -- 1 load, 2 play, 3 progress, 4 ended.
  type            smallint not null,
  -- Duration of the video when the event arrived, or 0 if the video was not playable.
  duration_ms     int not null,
  position_ms     int,
  -- Pairs of start and end in milliseconds.
  watched         int[] not null,
  rewatched       int[] not null,
  language        text not null,
  subtitle        text not null,
  -- Null if the client address is unknown.
  visitor         bytea,
  startup_ms      int,
  -- Null if the quality was not measured.
  stalls          int,
  stalled_ms      int,
  error           text not null
) partition by range (day);
create index event_batch on event (batch_id);

-- A batch of events that was inserted but is not merged into the counts yet.
create table pending_batch (
  batch_id    bigint generated always as identity primary key,
  days        date[] not null,
  events      int not null,
  create_time timestamptz(3) not null default now(),
  -- Random id of the process that inserted the batch. A process uses its cache of the batch only if
  -- this is its own id, because batch ids can repeat after a failover.
  writer      uuid
);

-- The salt of a day. Visitor ids are hashes of client addresses with this salt. It is deleted after two
-- days, so that an address can no longer be found for a visitor id.
create table salt (
  day  date primary key,
  salt bytea not null
);

-- A view, merged from its events by minimum, maximum and OR. A view has one row for each duration that
-- the video had during the view. Partitioned by four weeks of last_day. Old partitions are dropped.
create table view (
  view_id         uuid not null,
  video_id        bigint not null,
  duration_ms     int not null,
  organisation_id bigint not null,
  first_ms        bigint not null,
  last_ms         bigint not null,
  played          boolean not null,
  furthest_ms     int not null,
  -- Bit b is set if a part from 5 b % to 5 (b + 1) % was watched.
  buckets         int not null,
  -- One bit for each cell of max(1 s, duration / 1,000).
  watched         bytea not null,
  rewatched       bytea not null,
  -- The last reported language and its time.
  language        text not null,
  language_ms     bigint not null,
  subtitle        text not null,
  subtitle_ms     bigint not null,
  startup_ms      int,
  stalls          int,
  stalled_ms      int,
  failed          boolean not null,
  -- UTC day of the last event of the view, the same in all of its rows, so that they share a
  -- partition.
  last_day        date not null default (now() at time zone 'UTC')::date,
  primary key (view_id, video_id, duration_ms, last_day)
) partition by range (last_day);
create index view_first on view using brin (first_ms);

-- A view that sent an event in the last minutes. The table is unlogged, because players send new events
-- within a minute after a crash. It has no index on the time, because every event would change it.
create unlogged table live_view (
  organisation_id bigint not null,
  video_id        bigint not null,
  view_id         uuid not null,
  last_received_ms bigint not null,
  primary key (organisation_id, video_id, view_id)
) with (fillfactor = 70);

-- A visitor who played a video on a day. Rows with video 0 are about any video of the organisation.
-- Partitioned by week.
create table viewer (
  day             date not null,
  organisation_id bigint not null,
  video_id        bigint not null,
  visitor         bytea not null,
  primary key (day, organisation_id, video_id, visitor)
) partition by range (day);

-- The first partitions contain all days before the next period. Each of the next eight weeks has a partition.
-- The service creates later ones.
do $$
declare
  today int := (now() at time zone 'UTC')::date - date '1970-01-01';
  parent text;
  days int;
  first date;
  storage text;
begin
  foreach parent in array array['view', 'viewer'] loop
    days := case parent when 'view' then 28 else 7 end;
    storage := case parent when 'view' then 'with (fillfactor = 85)' else '' end;
    -- 5 January 1970 was a Monday.
    first := date '1970-01-01' + today - (today - 4) % days + days;
    execute format('create table %I partition of %I for values from (minvalue) to (%L) %s',
      parent || '_before_' || to_char(first, 'YYYYMMDD'), parent, first, storage);
    for n in 0..56 / days - 1 loop
      execute format('create table %I partition of %I for values from (%L) to (%L) %s',
        parent || '_' || to_char(first + n * days, 'YYYYMMDD'), parent, first + n * days, first + (n + 1) * days, storage);
    end loop;
  end loop;
end $$;

-- The following tables are roll-ups: counts of the views of a UTC day, for reports. Only the merge
-- writes them, while it has its lock. It adds the differences that result from new events.

-- Counts of an organisation.
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

-- Counts of a video.
create table video_day (
  video_id        bigint not null,
  day             date not null,
  language        text not null,
  organisation_id bigint not null,
  loads           bigint not null,
  plays           bigint not null,
  completes       bigint not null,
  bounces         bigint not null,
  -- Distinct watched time of played views, in millionths of the duration and in milliseconds.
  share_ppm       bigint not null,
  viewing_ms      bigint not null,
  -- 21 numbers each, for 0, 5, … 100 %.
  buckets         bigint[] not null,
  furthest        bigint[] not null,
  primary key (video_id, day, language)
);
create index video_day_export on video_day (organisation_id, day, video_id, language);

-- Number of played views that watched each cell, for one duration of a video.
create table video_heat (
  video_id    bigint not null,
  day         date not null,
  duration_ms int not null,
  views       bigint not null,
  watched     bigint[] not null,
  rewatched   bigint[] not null,
  primary key (video_id, day, duration_ms)
);

-- Playback quality of a video.
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

-- Number of viewers of a video on a day. Rows with video 0 are about all videos of the organisation.
create table viewer_day (
  organisation_id bigint not null,
  video_id        bigint not null,
  day             date not null,
  viewers         bigint not null,
  primary key (organisation_id, video_id, day)
);

-- Number of event and view rows that an organisation added on a UTC day. A metric shows the largest
-- numbers, so that an alert can identify an organisation whose videos get too many events.
create table organisation_growth (
  day             date not null,
  organisation_id bigint not null,
  events          bigint not null,
  views           bigint not null,
  primary key (day, organisation_id)
);

-- Summary of a video with events, as last read from the catalogue. It is not deleted with the video,
-- because reports still use it.
create table video (
  video_id        bigint primary key,
  organisation_id bigint not null,
  -- Null while the video is not playable.
  duration_ms     int,
  title           text not null default '',
  media_title     text not null default '',
  description     text not null default '',
  language        text not null default '',
  check_time      timestamptz(3) not null default now()
);
create index video_organisation on video (organisation_id, video_id);

-- State of the nightly comparison of counts with events. The table has one row, which one replica claims.
create table comparison (
  only_row     boolean primary key default true check (only_row),
  -- Start of the last completed comparison. Before the first comparison: first start of the service.
  compare_time timestamptz(3) not null,
  -- Number of differences that it found.
  differences  int not null,
  -- Start of a comparison that is not completed.
  claim_time   timestamptz(3)
);
