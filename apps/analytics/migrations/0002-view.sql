-- Views, merged from their events by minimum, maximum and OR. A view has a row for each duration that its video had while events came:
-- one, unless the video was replaced by another length meanwhile.
create table view (
  view_id         uuid not null,
  video_id        bigint not null,
  duration_ms     int not null,
  organisation_id bigint not null,
  first_ms        bigint not null,
  last_ms         bigint not null,
  played          boolean not null,
  furthest_ms     int not null,
  -- Bit b: watched any moment from 5 b % to 5 (b + 1) %.
  buckets         int not null,
  -- A bit for each cell of max(1 s, a thousandth of the duration).
  watched         bytea not null,
  rewatched       bytea not null,
  -- The last one named, and when.
  language        text not null,
  language_ms     bigint not null,
  subtitle        text not null,
  subtitle_ms     bigint not null,
  startup_ms      int,
  stalls          int,
  stalled_ms      int,
  failed          boolean not null,
  primary key (view_id, video_id, duration_ms)
) with (fillfactor = 85);
create index view_first on view using brin (first_ms);
create index view_last on view using brin (last_ms);

-- Views that told of themselves just now.
create table live_view (
  organisation_id bigint not null,
  video_id        bigint not null,
  view_id         uuid not null,
  seen_ms         bigint not null,
  primary key (organisation_id, video_id, view_id)
);
create index live_view_seen on live_view (seen_ms);

-- Who played on a day: of a video, and as video 0 of the whole organisation.
create table viewer (
  day             date not null,
  organisation_id bigint not null,
  video_id        bigint not null,
  visitor         bytea not null,
  primary key (day, organisation_id, video_id, visitor)
);
