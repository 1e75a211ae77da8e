-- Renditions beyond those that every source gets: what later uploads of an organisation get, what was applied to a media, and what was added
-- by that to the sets that play.
create table organisation_encoding_format (
  organisation_encoding_format_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  profile_id      int not null,
  unique (organisation_id, profile_id)
);
create table media_encoding_format (
  media_id   bigint not null references media on delete cascade,
  profile_id int not null,
  primary key (media_id, profile_id)
);

-- A rendition of a job of its own, beside the set of another one. It is served as long as that set is.
create table added_rendition (
  job_id          bigint primary key,
  media_id        bigint not null references media on delete cascade,
  organisation_id bigint not null,
  set_job_id      bigint not null,
  prefix          text not null,
  -- As they count; 0 once the set is replaced.
  bytes           bigint not null
);
create index added_rendition_set on added_rendition (set_job_id);
create index added_rendition_media on added_rendition (media_id);
create index added_rendition_bytes on added_rendition (organisation_id) include (bytes) where bytes > 0;

create function added_rendition_counts() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op <> 'INSERT' then perform add_usage(old.organisation_id, -old.bytes); end if;
  if tg_op <> 'DELETE' then perform add_usage(new.organisation_id, new.bytes); end if;
  return null;
end $$;
create trigger added_rendition_counts after insert or update of bytes or delete on added_rendition
  for each row execute function added_rendition_counts();

-- Of a job that adds a rendition: which, and to the set of which job.
alter table job
  add column profile_id int,
  add column set_job_id bigint;
alter table job drop constraint job_action_check;
alter table job add constraint job_action_check check (action in ('new_video', 'replace', 'add_rendition')) not valid;
-- A media has at most one job under way that makes its set, and one for each rendition that is added to it.
create unique index job_standing_set on job (media_id) where state in ('queued', 'running') and action <> 'add_rendition';
create unique index job_standing_rendition on job (media_id, profile_id) where state in ('queued', 'running') and action = 'add_rendition';
drop index job_standing;
