create table clip (
  clip_id     bigint generated always as identity primary key,
  entry_id    bigint not null references entry on delete cascade,
  title       text not null default '',
  comments    text not null,
  time_start  int not null check (time_start >= 0),
  time_finish int not null check (time_finish >= time_start),
  type        text not null,
  preview     boolean not null,
  -- From 0, without gaps; changed under the lock of the entry.
  position    int not null check (position >= 0),
  create_time timestamptz(3) not null default now(),
  -- Deferred: a new order passes through others. It is also the index of every list of clips.
  constraint clip_place unique (entry_id, position) deferrable initially deferred
);
