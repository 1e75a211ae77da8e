-- What happened, for webhooks: written in the transaction of its cause, and only where a webhook asks for it (events of other services
-- always, so that repeats are known). Kept for seven days.
create table event (
  event_id        text primary key default 'evt_' || replace(gen_random_uuid()::text, '-', ''),
  type            text not null,
  organisation_id bigint not null,
  -- Events of one key reach a webhook in order, such as `media:12`.
  object_key      text not null,
  data            jsonb not null,
  create_time     timestamptz(3) not null default now()
);
create index event_time on event (create_time);
