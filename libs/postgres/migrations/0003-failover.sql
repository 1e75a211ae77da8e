-- Which database this is, as the service saw it: a new row whenever it has become another one in time, by the promotion of a standby or by a
-- restore. The first row is of the birth, and settled. It stands in the database itself, so that services that start afterwards notice, too.
create table failover (
  failover_id bigint generated always as identity primary key,
  system_id   text not null,
  timeline    text not null,
  notice_time timestamptz(3) not null default now(),
  -- When the service had put right what the lost tail left behind; a service with nothing to put right leaves it empty.
  settle_time timestamptz(3)
);
