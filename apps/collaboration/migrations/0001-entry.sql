-- Somebody's work on a video. Video and user are of other services: entries of those that are gone are not shown, and swept.
create table entry (
  entry_id                 bigint generated always as identity primary key,
  video_id                 bigint not null,
  -- That of the video.
  organisation_id          bigint not null,
  -- Null for none.
  user_id                  bigint,
  -- Empty: the address is that of the user.
  email                    text not null default '',
  created_by_user_id       text not null,
  last_modified_by_user_id text not null,
  create_time              timestamptz(3) not null default now(),
  update_time              timestamptz(3) not null default now()
);
create index entry_video on entry (video_id, entry_id);
