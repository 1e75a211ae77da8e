-- Notifications about changes of the data that guests see. Gateways keep responses to guests until
-- such a change (ADR 0029). While a media is waiting or encoding, its responses are not kept, so
-- changes from one of these states to another are not notified.

-- Notifies that the public view of videos may have changed, with payloads such as `videos 1,2,3`. A
-- payload has at most 8,000 bytes, so it has at most 300 ids.
create function notify_public_videos(videos bigint[]) returns void language sql as $$
  select pg_notify('vitascope_catalogue_public_changed', 'videos ' || string_agg(video_id::text, ','))
  from (select video_id, (row_number() over () - 1) / 300 as part from unnest(videos) as video_id) numbered
  group by part
$$;

-- Notifies that the public view of all videos of organisations may have changed.
create function notify_public_organisations(organisations bigint[]) returns void language sql as $$
  select pg_notify('vitascope_catalogue_public_changed', 'organisations ' || organisation_id)
  from unnest(organisations) as organisation_id
$$;

create function video_public_update() returns trigger language plpgsql set search_path from current as $$
begin
  perform notify_public_videos(array(
    select n.video_id from new_rows n join old_rows o using (video_id)
    where (n.state not in ('waiting', 'encoding') or o.state not in ('waiting', 'encoding')) and n.* is distinct from o.*
    order by 1));
  return null;
end $$;
create trigger video_public_update after update on video referencing old table as old_rows new table as new_rows
  for each statement execute function video_public_update();

create function video_public_delete() returns trigger language plpgsql set search_path from current as $$
begin
  perform notify_public_videos(array(select video_id from old_rows order by 1));
  return null;
end $$;
create trigger video_public_delete after delete on video referencing old table as old_rows
  for each statement execute function video_public_delete();

create function media_public_update() returns trigger language plpgsql set search_path from current as $$
begin
  perform notify_public_videos(array(
    select v.video_id from new_rows n join old_rows o using (media_id) join video v using (media_id)
    where (n.state not in ('waiting', 'encoding') or o.state not in ('waiting', 'encoding')) and n.* is distinct from o.*
    order by 1));
  return null;
end $$;
create trigger media_public_update after update on media referencing old table as old_rows new table as new_rows
  for each statement execute function media_public_update();

-- For tables whose rows belong to a video.
create function row_of_video_public_change() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op <> 'INSERT' then perform notify_public_videos(array(select distinct video_id from old_rows order by 1)); end if;
  if tg_op <> 'DELETE' then perform notify_public_videos(array(select distinct video_id from new_rows order by 1)); end if;
  return null;
end $$;
create trigger metadata_public_insert after insert on metadata_entry referencing new table as new_rows
  for each statement execute function row_of_video_public_change();
create trigger metadata_public_update after update on metadata_entry referencing old table as old_rows new table as new_rows
  for each statement execute function row_of_video_public_change();
create trigger metadata_public_delete after delete on metadata_entry referencing old table as old_rows
  for each statement execute function row_of_video_public_change();

-- For tables whose rows belong to a media.
create function row_of_media_public_change() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op <> 'INSERT' then
    perform notify_public_videos(array(select distinct v.video_id from old_rows join video v using (media_id) order by 1));
  end if;
  if tg_op <> 'DELETE' then
    perform notify_public_videos(array(select distinct v.video_id from new_rows join video v using (media_id) order by 1));
  end if;
  return null;
end $$;
create trigger caption_public_insert after insert on caption referencing new table as new_rows
  for each statement execute function row_of_media_public_change();
create trigger caption_public_update after update on caption referencing old table as old_rows new table as new_rows
  for each statement execute function row_of_media_public_change();
create trigger caption_public_delete after delete on caption referencing old table as old_rows
  for each statement execute function row_of_media_public_change();
create trigger overlay_public_insert after insert on overlay referencing new table as new_rows
  for each statement execute function row_of_media_public_change();
create trigger overlay_public_update after update on overlay referencing old table as old_rows new table as new_rows
  for each statement execute function row_of_media_public_change();
create trigger overlay_public_delete after delete on overlay referencing old table as old_rows
  for each statement execute function row_of_media_public_change();

-- For tables whose rows can affect every video of an organisation.
create function organisation_public_change() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op <> 'INSERT' then perform notify_public_organisations(array(select distinct organisation_id from old_rows order by 1)); end if;
  if tg_op <> 'DELETE' then perform notify_public_organisations(array(select distinct organisation_id from new_rows order by 1)); end if;
  return null;
end $$;
create trigger organisation_public_update after update on organisation referencing old table as old_rows new table as new_rows
  for each statement execute function organisation_public_change();
create trigger setting_public_insert after insert on setting referencing new table as new_rows
  for each statement execute function organisation_public_change();
create trigger setting_public_update after update on setting referencing old table as old_rows new table as new_rows
  for each statement execute function organisation_public_change();
create trigger setting_public_delete after delete on setting referencing old table as old_rows
  for each statement execute function organisation_public_change();
create trigger theme_public_insert after insert on theme referencing new table as new_rows
  for each statement execute function organisation_public_change();
create trigger theme_public_update after update on theme referencing old table as old_rows new table as new_rows
  for each statement execute function organisation_public_change();
create trigger theme_public_delete after delete on theme referencing old table as old_rows
  for each statement execute function organisation_public_change();
-- Videos show the ids of existing contact forms and presentations only.
create trigger contact_form_public_delete after delete on contact_form referencing old table as old_rows
  for each statement execute function organisation_public_change();
create trigger presentation_public_delete after delete on presentation referencing old table as old_rows
  for each statement execute function organisation_public_change();

create function presentation_public_move() returns trigger language plpgsql set search_path from current as $$
begin
  perform notify_public_organisations(array[old.organisation_id, new.organisation_id]);
  return null;
end $$;
create trigger presentation_public_move after update of organisation_id on presentation for each row
  when (old.organisation_id <> new.organisation_id) execute function presentation_public_move();
