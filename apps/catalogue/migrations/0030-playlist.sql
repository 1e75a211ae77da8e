create table playlist (
  -- Random, and no video's: both are opened at /player/{id}.
  playlist_id           bigint primary key,
  organisation_id       bigint not null references organisation,
  playlist_type         text not null,
  title                 text not null,
  description           text not null,
  monetization_url      text not null,
  randomise             boolean not null,
  -- How many of its videos are played; 0 for all.
  video_limit           smallint not null check (video_limit between 0 and 25),
  open_in_playlist_view boolean not null,
  settings              text not null,
  -- A JSON object as text, so that it comes back as it came; empty for none.
  monetization_json     text not null,
  created_by_user_id    text not null,
  create_time           timestamptz(3) not null default now(),
  -- Moved by changes of the order, too; not by videos that are deleted.
  update_time           timestamptz(3) not null default now()
);
create index playlist_organisation on playlist (organisation_id, create_time, playlist_id);

-- A deleted video leaves a gap; the next change closes it.
create table playlist_video (
  playlist_id bigint not null references playlist on delete cascade,
  -- At most 25, whoever adds at the same time.
  position    smallint not null check (position between 0 and 24),
  video_id    bigint not null references video on delete cascade,
  primary key (playlist_id, position)
);
create index playlist_video_video on playlist_video (video_id);
