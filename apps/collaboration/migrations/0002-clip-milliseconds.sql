-- Exact times of clips, and whether the comment of a clip was dealt with.
alter table clip
  add column time_start_millis int not null default 0 check (time_start_millis between 0 and 999),
  add column time_finish_millis int not null default 0 check (time_finish_millis between 0 and 999),
  add column resolved boolean not null default false;
