-- Fencing tokens, one for each lease. They end at 2^53 - 1, up to which JavaScript numbers are exact.
create sequence work_fence as bigint maxvalue 9007199254740991;

-- The work queue, one row for each item. libs/queue writes it.
create table work_item (
  item_id      bigint generated always as identity primary key,
  -- Purpose of the work. Cancelling a key ends all of its items.
  key          text not null,
  kind         text not null,
  -- Owner of the work. Groups of one priority share by the sum of the costs of their items.
  group_key    text not null,
  priority     int not null,
  -- Virtual start time of the item (start-time fair queueing).
  turn         bigint not null,
  payload      jsonb not null,
  -- Resource units that the item needs, so that a worker gets no item that exceeds its free resources. The service
  -- defines the unit; 0 means almost none.
  weight       int not null default 0,
  -- Planned work of the item, in CPU milliseconds.
  cost         bigint not null default 1000,
  state        text not null default 'waiting' check (state in ('waiting', 'leased', 'done')),
  due_time     timestamptz(3) not null default now(),
  -- Time since which workers without enough resources skip the first item. It bounds how long they may do so.
  skipped_time timestamptz(3),
  -- Fencing token of the last lease, unique over all leases of all items; 0 before the first lease.
  fence        bigint not null default 0,
  holder       text,
  -- Request id of the lease. A repeated request with the same id gets the same item.
  request_id   text,
  lease_ms     int,
  lease_end    timestamptz(3),
  create_time  timestamptz(3) not null default now(),
  done_time    timestamptz(3),
  check ((state = 'leased') = (lease_end is not null))
);
create index work_item_waiting on work_item (kind, priority desc, turn, item_id) where state = 'waiting';
create index work_item_group on work_item (group_key, kind, turn) where state in ('waiting', 'leased');
create index work_item_lease on work_item (lease_end) where state = 'leased';
create unique index work_item_request on work_item (holder, request_id) where state = 'leased' and request_id is not null;
create index work_item_key on work_item (key);
create index work_item_done on work_item (done_time) where state = 'done';
