-- Lists by tag are ordered and narrowed by what is told of the video here, whoever writes either.
alter table video_tag add column state text not null default 'waiting', add column title_key text not null default '';
update video_tag t set state = v.state, title_key = lower(v.title) from video v where v.video_id = t.video_id;

create index video_tag_organisation on video_tag (organisation_id, tag, create_time, video_id) include (state, title_key);
create index video_tag_time on video_tag (tag, create_time, video_id);
create index video_tag_title on video_tag (tag, title_key, video_id);
create index video_tag_state_time on video_tag (tag, state, create_time, video_id);
create index video_tag_state_title on video_tag (tag, state, title_key, video_id);
create index video_tag_video on video_tag (video_id, tag);

create function video_tag_takes() returns trigger language plpgsql set search_path from current as $$
begin
  select v.state, lower(v.title) into new.state, new.title_key from video v where v.video_id = new.video_id;
  return new;
end $$;
create trigger video_tag_takes before insert on video_tag for each row execute function video_tag_takes();

create function video_gives_tags() returns trigger language plpgsql set search_path from current as $$
begin
  update video_tag t set state = n.state, title_key = lower(n.title)
    from new_rows n join old_rows o using (video_id)
    where t.video_id = n.video_id and (n.state, n.title) <> (o.state, o.title);
  return null;
end $$;
create trigger video_gives_tags after update on video referencing old table as old_rows new table as new_rows
  for each statement execute function video_gives_tags();
