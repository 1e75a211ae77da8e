-- Videos and captions come and go by many ways, cascades among them: their events are written by triggers, so that none can forget them.
-- Whoever changes a media, its videos or its captions holds the media's lock, so events of one media come in the order of their causes.
create function video_events_in() returns trigger language plpgsql set search_path from current as $$
begin
  insert into event (type, organisation_id, object_key, data)
    select 'video.created', n.organisation_id, 'media:' || n.media_id,
      jsonb_build_object('video_id', n.video_id::text, 'media_id', n.media_id::text, 'organisation_id', n.organisation_id::text)
    from new_rows n
    where exists (select from webhook w where w.organisation_id = n.organisation_id and w.enabled and 'video.created' = any (w.events));
  return null;
end $$;
create trigger video_events_in after insert on video referencing new table as new_rows
  for each statement execute function video_events_in();

create function video_events_out() returns trigger language plpgsql set search_path from current as $$
begin
  insert into event (type, organisation_id, object_key, data)
    select 'video.deleted', o.organisation_id, 'media:' || o.media_id,
      jsonb_build_object('video_id', o.video_id::text, 'media_id', o.media_id::text, 'organisation_id', o.organisation_id::text)
    from old_rows o
    where exists (select from webhook w where w.organisation_id = o.organisation_id and w.enabled and 'video.deleted' = any (w.events));
  return null;
end $$;
create trigger video_events_out after delete on video referencing old table as old_rows
  for each statement execute function video_events_out();

create function caption_events_in() returns trigger language plpgsql set search_path from current as $$
begin
  insert into event (type, organisation_id, object_key, data)
    select 'caption.created', n.organisation_id, 'media:' || n.media_id,
      jsonb_build_object('caption_id', n.caption_id::text, 'language', n.language,
        'video_id', (select v.video_id::text from video v where v.media_id = n.media_id order by v.create_time, v.video_id limit 1),
        'media_id', n.media_id::text, 'organisation_id', n.organisation_id::text)
    from new_rows n
    where exists (select from webhook w where w.organisation_id = n.organisation_id and w.enabled and 'caption.created' = any (w.events));
  return null;
end $$;
create trigger caption_events_in after insert on caption referencing new table as new_rows
  for each statement execute function caption_events_in();
