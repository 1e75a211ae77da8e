create table media (
  media_id          bigint primary key,
  organisation_id   bigint not null references organisation,
  title             text not null,
  original_filename text not null,
  token_required    boolean not null default false,
  gif_status        smallint not null default 0 check (gif_status in (0, 1)),
  -- The status that all its videos show.
  state             text not null check (state in ('waiting', 'encoding', 'ok', 'failed')),
  progress          smallint not null check (progress between 0 and 100),
  code              int not null,
  message           text not null default '',
  -- The set that plays, with the job that made it; null until something does.
  renditions        jsonb,
  set_job_id        bigint,
  create_time       timestamptz(3) not null default now(),
  update_time       timestamptz(3) not null default now(),
  check ((renditions is null) = (set_job_id is null))
);
create index media_set_job on media (set_job_id) where set_job_id is not null;
create index media_organisation on media (organisation_id);
