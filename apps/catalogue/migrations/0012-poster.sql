-- Pictures that users set for videos instead of a frame that the encoder selected. Encoding a video does not change the row.
-- Ids of jobs are shared with job.
create table poster (
  video_id          bigint primary key references video on delete cascade,
  media_id          bigint not null,
  organisation_id   bigint not null,
  -- Job of the last picture.
  job_id            bigint not null unique,
  -- The picture: its URL, or else the time of a frame of a set.
  source_url        text,
  source_set_job_id bigint,
  at_seconds        double precision,
  state             text not null check (state in ('queued', 'running', 'ok', 'failed')),
  code              int not null default 0,
  message           text not null default '',
  -- Revision of the last applied report.
  revision          bigint not null default -1,
  -- Time of the last report or check.
  check_time        timestamptz(3) not null default now(),
  -- First check at which encoding had ended the job while its report was missing.
  ended_since       timestamptz(3),
  -- Number of times that the job was sent to encoding again.
  send_count        smallint not null default 0,
  -- The images that the video shows, from the last picture that was converted. Null before the first.
  set_job_id        bigint,
  prefix            text,
  -- The images `poster` and `thumbnail`, each with path, width and height.
  images            jsonb
);
create index poster_set on poster (set_job_id);
create index poster_stale on poster (check_time) where state in ('queued', 'running');

create trigger poster_public_insert after insert on poster referencing new table as new_rows
  for each statement execute function row_of_video_public_change();
create trigger poster_public_update after update on poster referencing old table as old_rows new table as new_rows
  for each statement execute function row_of_video_public_change();
create trigger poster_public_delete after delete on poster referencing old table as old_rows
  for each statement execute function row_of_video_public_change();
