-- The work queue. One row per piece of work; who holds it, until when, and under which fencing number stands in the row itself.
create sequence work_fence as int;

create table work_item (
  item_id     bigint generated always as identity primary key,
  -- What the work is for: cancelling a key ends all of its items.
  key         text not null,
  kind        text not null,
  -- Who the work is for: items of one priority are shared out between groups.
  group_key   text not null,
  priority    int not null,
  -- The group's place in line (start-time fair queueing).
  turn        bigint not null,
  payload     jsonb not null,
  state       text not null default 'waiting' check (state in ('waiting', 'leased', 'done')),
  due_time    timestamptz(3) not null default now(),
  -- The number of the last lease, unique over all leases of all items; 0 before the first.
  fence       int not null default 0,
  holder      text,
  lease_ms    int,
  lease_end   timestamptz(3),
  create_time timestamptz(3) not null default now(),
  done_time   timestamptz(3),
  check ((state = 'leased') = (lease_end is not null))
);
create index work_item_line on work_item (kind, priority desc, turn, item_id) where state = 'waiting';
create index work_item_group on work_item (group_key, kind, turn) where state in ('waiting', 'leased');
create index work_item_lease on work_item (lease_end) where state = 'leased';
create index work_item_key on work_item (key);
create index work_item_done on work_item (done_time) where state = 'done';
