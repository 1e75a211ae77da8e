-- The state of a video's media, so that lists by state read one index. Kept by triggers, so that no writer can forget it.
alter table video add column state text not null default 'waiting';
update video v set state = m.state from media m where m.media_id = v.media_id and m.state <> v.state;

-- How many videos there are: a row for each change, added up by readers, and now and then made one row by a sweep. Nobody waits for
-- anybody: an insert locks nothing that another one wants.
create table video_count (
  organisation_id bigint not null,
  state           text not null,
  videos          bigint not null
);
insert into video_count select organisation_id, state, count(*) from video group by organisation_id, state;
create index video_count_organisation on video_count (organisation_id, state);

create index video_organisation_state_time on video (organisation_id, state, create_time, video_id);
create index video_state_time on video (state, create_time, video_id);
-- With the title itself, `lower(title)` is read from the index alone, and rows that are passed over are not read at all.
create index video_organisation_lower_title on video (organisation_id, lower(title), video_id) include (title);
create index video_lower_title on video (lower(title), video_id) include (title);
create index video_organisation_state_title on video (organisation_id, state, lower(title), video_id) include (title);
create index video_state_title on video (state, lower(title), video_id) include (title);
drop index video_organisation_title;
drop index video_title;

create function video_takes_state() returns trigger language plpgsql set search_path from current as $$
begin
  -- The lock makes it the latest state, and holds it until this video can be seen by whoever changes it.
  select m.state into strict new.state from media m where m.media_id = new.media_id for share;
  return new;
end $$;
create trigger video_takes_state before insert on video for each row execute function video_takes_state();

create function media_gives_state() returns trigger language plpgsql set search_path from current as $$
begin
  update video v set state = n.state
    from new_rows n join old_rows o using (media_id)
    where v.media_id = n.media_id and n.state <> o.state;
  return null;
end $$;
create trigger media_gives_state after update on media referencing old table as old_rows new table as new_rows
  for each statement execute function media_gives_state();

create function video_counts_in() returns trigger language plpgsql set search_path from current as $$
begin
  insert into video_count select organisation_id, state, count(*) from new_rows group by organisation_id, state;
  return null;
end $$;
create trigger video_counts_in after insert on video referencing new table as new_rows for each statement execute function video_counts_in();

create function video_counts_out() returns trigger language plpgsql set search_path from current as $$
begin
  insert into video_count select organisation_id, state, -count(*) from old_rows group by organisation_id, state;
  return null;
end $$;
create trigger video_counts_out after delete on video referencing old table as old_rows for each statement execute function video_counts_out();

create function video_counts_over() returns trigger language plpgsql set search_path from current as $$
begin
  insert into video_count
    select organisation_id, state, sum(videos) from (
      select organisation_id, state, 1 as videos from new_rows
      union all
      select organisation_id, state, -1 from old_rows) as change
    group by organisation_id, state having sum(videos) <> 0;
  return null;
end $$;
create trigger video_counts_over after update on video referencing old table as old_rows new table as new_rows
  for each statement execute function video_counts_over();

-- Jobs are looked up by their media when it is deleted.
create index job_media on job (media_id);
