-- The nightly comparison of counts with events, in one row: all replicas read there whether one is due, and one of them takes it on.
create table comparison (
  one          boolean primary key default true check (one),
  -- When the last one began that came to its end; before the first, when the service first ran.
  compare_time timestamptz(3) not null,
  -- What it found.
  differences  int not null,
  -- When one began that has not come to its end.
  claim_time   timestamptz(3)
);
