-- Lists of a folder are ordered and narrowed by what is told of the video here, whoever writes either.
alter table folder_video
  add column state text not null default 'waiting',
  add column title_key text not null default '',
  add column create_time timestamptz(3) not null default now();
update folder_video f set state = v.state, title_key = lower(v.title), create_time = v.create_time from video v where v.video_id = f.video_id;

create index folder_video_time on folder_video (folder_id, create_time, video_id);
create index folder_video_title on folder_video (folder_id, title_key, video_id);
create index folder_video_state_time on folder_video (folder_id, state, create_time, video_id);
create index folder_video_state_title on folder_video (folder_id, state, title_key, video_id);

-- The video waits for it, so that a change of its title or state sees this row.
create function folder_video_takes() returns trigger language plpgsql set search_path from current as $$
begin
  select v.state, lower(v.title), v.create_time into new.state, new.title_key, new.create_time
    from video v where v.video_id = new.video_id for share;
  return new;
end $$;
create trigger folder_video_takes before insert on folder_video for each row execute function folder_video_takes();

create function video_gives_folders() returns trigger language plpgsql set search_path from current as $$
begin
  update folder_video f set state = n.state, title_key = lower(n.title)
    from new_rows n join old_rows o using (video_id)
    where f.video_id = n.video_id and (n.state, n.title) <> (o.state, o.title);
  return null;
end $$;
create trigger video_gives_folders after update on video referencing old table as old_rows new table as new_rows
  for each statement execute function video_gives_folders();
