-- A view with its start, for lists of the sessions of a video. The merge adds one row for each new view, and
-- session events add one if their view has none. A view can have two rows if they are added on different days;
-- lists use the earlier one. Partitioned by week, like the next table. The service creates and drops partitions.
create table view_session (
  view_id         uuid not null,
  video_id        bigint not null,
  organisation_id bigint not null,
  -- UTC day of start_ms.
  day             date not null,
  -- Time of the first known event by the clock of the player.
  start_ms        bigint not null,
  primary key (view_id, video_id, day)
) partition by range (day);
create index view_session_list on view_session (video_id, start_ms, view_id);

-- What happened in a view, in the order of at_ms. The number of rows of a view is limited.
create table session_event (
  view_id         uuid not null,
  video_id        bigint not null,
  organisation_id bigint not null,
  -- UTC day of at_ms.
  day             date not null,
  -- Time of the event by the clock of the player.
  at_ms           bigint not null,
  -- 1 state, 2 switch, 3 error, 4 startup.
  type            smallint not null,
  position_ms     int,
  -- State of the player, a number of vitascope.analytics.v1.PlayerState.
  state           smallint,
  from_height     int,
  to_height       int,
  -- Bit rate after a switch.
  to_kbps         int,
  error_code      text,
  startup_ms      int,
  primary key (view_id, video_id, at_ms, type, day)
) partition by range (day);
