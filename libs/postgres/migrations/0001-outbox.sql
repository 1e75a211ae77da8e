-- Calls to other services. Rows are written in the transaction of their cause and sent in order for each key.
create table outbox (
  outbox_id   bigint generated always as identity primary key,
  topic       text not null,
  key         text not null,
  payload     jsonb not null,
  create_time timestamptz(3) not null default now(),
  next_time   timestamptz(3) not null default now(),
  attempts    int not null default 0,
  last_error  text,
  -- Set when the message was given up. Such a row no longer blocks later rows of its key.
  dead_time   timestamptz(3)
);
create index outbox_key on outbox (key, outbox_id) where dead_time is null;
create index outbox_next on outbox (next_time, outbox_id) where dead_time is null;

create table idempotency (
  key         text primary key,
  fingerprint text not null,
  response    bytea not null,
  create_time timestamptz(3) not null default now()
);
create index idempotency_create_time on idempotency (create_time);
