-- Counts of the last minutes, by the minute in which events arrived. Rows with video 0 are about all videos of the
-- organisation. The minute is the first column of the key, so that a report reads one row for each minute, and old rows
-- are found by the same index. The table is unlogged like live_view: after a crash it is empty.
create unlogged table live_minute (
  -- Start of the minute in milliseconds since 1970.
  minute_ms       bigint not null,
  organisation_id bigint not null,
  video_id        bigint not null,
  -- Views whose first event arrived, and views that started to play.
  loads           bigint not null,
  plays           bigint not null,
  -- Views of which any event arrived.
  active          bigint not null,
  primary key (minute_ms, organisation_id, video_id)
) with (fillfactor = 70);
