-- Messages of success to uploaders: queued in the transaction of the success, kept for seven days.
create table mail (
  mail_id         bigint generated always as identity primary key,
  -- Of the header Message-ID, the same at every try.
  message_id      uuid not null default gen_random_uuid(),
  job_id          bigint not null unique,
  video_id        bigint not null,
  organisation_id bigint not null,
  user_id         text not null,
  -- `dropped`: there is nobody to tell, or nothing to tell of.
  state           text not null default 'waiting' check (state in ('waiting', 'sent', 'dropped', 'failed')),
  -- The fence: who tries it may settle it while nobody has tried it since.
  attempt         int not null default 0,
  next_time       timestamptz not null default now(),
  create_time     timestamptz(3) not null default now()
);
create index mail_next on mail (next_time) where state = 'waiting';
create index mail_time on mail (create_time);
