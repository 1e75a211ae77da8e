-- Texts that a video has under names of its organisation's choice; the primary key is the index by which a video's are read.
create table metadata_entry (
  video_id    bigint not null references video on delete cascade,
  -- In one order everywhere, whatever the locale of the database.
  name        text collate "C" not null check (name ~ '^[a-z_]{1,100}$'),
  value       text not null,
  private     boolean not null,
  read_only   boolean not null,
  create_time timestamptz(3) not null default now(),
  update_time timestamptz(3) not null default now(),
  primary key (video_id, name)
);
