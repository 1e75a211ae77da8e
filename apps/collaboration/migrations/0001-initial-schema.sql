-- A comment of a user on a video. Videos and users are stored in other services. Entries whose video or
-- user was deleted are hidden, and a sweep deletes them.
create table entry (
  entry_id                 bigint generated always as identity primary key,
  video_id                 bigint not null,
  -- Organisation of the video.
  organisation_id          bigint not null,
  -- Null if the entry belongs to no user.
  user_id                  bigint,
  -- If empty, the email address of the user is used.
  email                    text not null default '',
  created_by_user_id       text not null,
  last_modified_by_user_id text not null,
  create_time              timestamptz(3) not null default now(),
  update_time              timestamptz(3) not null default now()
);
create index entry_video on entry (video_id, entry_id);

-- A part of the video that an entry refers to, with comments.
create table clip (
  clip_id     bigint generated always as identity primary key,
  entry_id    bigint not null references entry on delete cascade,
  title       text not null default '',
  comments    text not null,
  time_start  int not null check (time_start >= 0),
  time_finish int not null check (time_finish >= time_start),
  type        text not null,
  preview     boolean not null,
  -- From 0, without gaps. The entry must be locked to change it.
  position    int not null check (position >= 0),
  create_time timestamptz(3) not null default now(),
  -- Deferred, because a change of the order has duplicates in between. Lists of clips use its index.
  constraint clip_position unique (entry_id, position) deferrable initially deferred
);
