create table folder (
  folder_id                bigint generated always as identity primary key,
  organisation_id          bigint not null references organisation,
  name                     text not null,
  description              text not null,
  created_by_user_id       text not null,
  last_modified_by_user_id text not null,
  create_time              timestamptz(3) not null default now(),
  update_time              timestamptz(3) not null default now(),
  constraint folder_name unique (organisation_id, name)
);
create index folder_organisation on folder (organisation_id, folder_id);

-- Which videos a folder holds; folder and video are of the same organisation.
create table folder_video (
  folder_id       bigint not null references folder on delete cascade,
  video_id        bigint not null references video on delete cascade,
  organisation_id bigint not null,
  -- The order in which they were put in.
  place           bigint generated always as identity,
  add_time        timestamptz(3) not null default now(),
  primary key (folder_id, video_id)
);
create index folder_video_place on folder_video (folder_id, place);
create index folder_video_video on folder_video (video_id);
