-- Events as players sent them, partitioned by the UTC day on which they say they happened; partitions are made and dropped by the service.
create table event (
  -- Of the insert that brought it.
  batch_id        bigint not null,
  day             date not null,
  at_ms           bigint not null,
  received_ms     bigint not null,
  organisation_id bigint not null,
  video_id        bigint not null,
  view_id         uuid not null,
  -- As in the contract: 1 load, 2 play, 3 progress, 4 ended.
  type            smallint not null,
  -- Of the video when the event came; 0 where nothing of it played.
  duration_ms     int not null,
  position_ms     int,
  -- Pairs of milliseconds, half-open.
  watched         int[] not null,
  rewatched       int[] not null,
  language        text not null,
  subtitle        text not null,
  -- Null where no address was told.
  visitor         bytea,
  startup_ms      int,
  -- Null: nothing was measured.
  stalls          int,
  stalled_ms      int,
  error           text not null
) partition by range (day);
create index event_batch on event (batch_id);

-- Inserts whose events are not yet in the counts.
create table pending_batch (
  batch_id    bigint generated always as identity primary key,
  days        date[] not null,
  events      int not null,
  create_time timestamptz(3) not null default now()
);

-- What turns an address into a viewer; gone two days later, and with it the way back.
create table salt (
  day  date primary key,
  salt bytea not null
);
