-- History of the database as seen by the service. A row is added when the database was changed by the promotion of a
-- standby or by a restore. The first row marks the creation of the database and is settled. The table is in the database itself, so
-- that services that start later detect a change too.
create table failover (
  failover_id bigint generated always as identity primary key,
  system_id   text not null,
  timeline    text not null,
  notice_time timestamptz(3) not null default now(),
  -- Time when the service had repaired the effects of lost transactions. Stays null for a service that has nothing to
  -- repair.
  settle_time timestamptz(3)
);
