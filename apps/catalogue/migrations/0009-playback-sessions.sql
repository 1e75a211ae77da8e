-- Sessions of viewers whose number is limited. They are lost in a crash of the database, after which
-- running sessions are reported again within seconds.
create unlogged table playback_session (
  video_id          bigint not null references video on delete cascade,
  -- Empty for viewers without a personal token, who are counted together.
  token_id          text not null,
  session_id        text not null,
  max_sessions      int not null,
  address           text not null,
  user_agent        text not null,
  start_time        timestamptz(3) not null default clock_timestamp(),
  last_request_time timestamptz(3) not null default clock_timestamp(),
  -- When a user ended it.
  end_time          timestamptz(3),
  primary key (video_id, token_id, session_id)
);
create index playback_session_last_request on playback_session (last_request_time);

-- Maximum number of concurrent sessions of a token. Null: no limit.
alter table setting add column max_sessions int check (max_sessions > 0);
