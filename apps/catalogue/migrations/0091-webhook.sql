create table webhook (
  webhook_id      bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  url             text not null,
  events          text[] not null,
  enabled         boolean not null,
  -- Why it was disabled, when that was not its owner's wish.
  disabled_reason text not null default '',
  -- Sealed with the master key.
  secret          bytea not null,
  -- The one before, which signs as well until its time is over.
  old_secret      bytea,
  old_secret_time timestamptz(3),
  create_time     timestamptz(3) not null default now()
);
create index webhook_organisation on webhook (organisation_id, webhook_id);

-- One event on its way to one webhook, and afterwards its line in the log.
create table webhook_delivery (
  delivery_id    bigint generated always as identity primary key,
  webhook_id     bigint not null references webhook on delete cascade,
  event_id       text not null references event on delete cascade,
  object_key     text not null,
  -- `note` is never sent.
  state          text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed', 'note')),
  attempt        int not null default 0,
  -- Of the last attempt; null where there was no answer.
  response_code  int,
  first_try_time timestamptz(3),
  create_time    timestamptz(3) not null default now()
);
create index webhook_delivery_log on webhook_delivery (webhook_id, delivery_id);
create index webhook_delivery_waiting on webhook_delivery (webhook_id, object_key, delivery_id) where state = 'waiting';
create index webhook_delivery_event on webhook_delivery (event_id);

-- Never begins again, as a lane that was emptied does.
create sequence webhook_fence;

-- A row for each key of a webhook for which deliveries wait: the oldest of them is tried when the time has come. A sender that takes a lane moves
-- its time behind the end of its lease, and its fence on; what it reports counts while the fence is the same.
create table webhook_lane (
  webhook_id      bigint not null references webhook on delete cascade,
  object_key      text not null,
  organisation_id bigint not null,
  -- `infinity` while the webhook is disabled.
  next_time       timestamptz not null default now(),
  fence           bigint not null default 0,
  primary key (webhook_id, object_key)
);
create index webhook_lane_next on webhook_lane (next_time, webhook_id, organisation_id);

-- The lane's lock stands until the commit: who empties a lane waits for it, and then sees the delivery.
create function queue_deliveries() returns trigger language plpgsql set search_path from current as $$
begin
  insert into webhook_lane as lane (webhook_id, object_key, organisation_id)
    select distinct d.webhook_id, d.object_key, w.organisation_id
    from new_rows d join webhook w using (webhook_id) where d.state = 'waiting' order by d.webhook_id, d.object_key
  on conflict (webhook_id, object_key) do update set organisation_id = lane.organisation_id;
  return null;
end $$;
create trigger queue_deliveries after insert on webhook_delivery referencing new table as new_rows
  for each statement execute function queue_deliveries();

-- No webhook asks for `webhook.…`: those events are for one alone, and queued by who writes them.
create function event_fans_out() returns trigger language plpgsql set search_path from current as $$
begin
  insert into webhook_delivery (webhook_id, event_id, object_key)
    select w.webhook_id, n.event_id, n.object_key
    from new_rows n join webhook w on w.organisation_id = n.organisation_id and w.enabled and n.type = any (w.events)
    order by w.webhook_id
    -- One that is being deleted is waited for, and has no events any more.
    for key share of w;
  return null;
end $$;
create trigger event_fans_out after insert on event referencing new table as new_rows for each statement execute function event_fans_out();
