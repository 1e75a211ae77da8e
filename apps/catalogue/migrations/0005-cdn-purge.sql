-- Messages about delivery versions that are no longer available, so that a CDN can remove their
-- files. The messages are written in the transaction that ends the version. The first one is sent
-- after the time for which delivery caches its rules, because the CDN could fetch the files again
-- until then. The second one removes files whose transfer to the CDN took longer.
create function enqueue_cdn_purges(video_ids bigint[], versions text[]) returns void language sql set search_path from current as $$
  insert into outbox (topic, key, payload, create_time, next_time)
    select 'cdn_purge', 'cdn_purge:' || video_id, jsonb_build_object('videoId', video_id::text, 'version', version, 'pass', pass), due, due
    from unnest(video_ids, versions) as ended (video_id, version), (values (1, interval '2.5 s'), (2, interval '60 s')) as passes (pass, delay),
      lateral (select now() + delay as due) as times
    where version <> ''
    order by due
$$;

-- The previous version of a replaced set is in delivery_set, because it stays available for an hour.
create function video_cdn_purge_update() returns trigger language plpgsql set search_path from current as $$
declare
  ended record;
begin
  select array_agg(o.video_id order by o.video_id) as ids, array_agg(o.delivery_version order by o.video_id) as versions into ended
    from old_rows o join new_rows n using (video_id)
    where o.delivery_version <> n.delivery_version
      and not exists (select from delivery_set s where s.video_id = o.video_id and s.version = o.delivery_version);
  if ended.ids is not null then perform enqueue_cdn_purges(ended.ids, ended.versions); end if;
  return null;
end $$;
create trigger video_cdn_purge_update after update on video referencing old table as old_rows new table as new_rows
  for each statement execute function video_cdn_purge_update();

create function video_cdn_purge_delete() returns trigger language plpgsql set search_path from current as $$
begin
  perform enqueue_cdn_purges(array_agg(video_id order by video_id), array_agg(delivery_version order by video_id)) from old_rows;
  return null;
end $$;
create trigger video_cdn_purge_delete after delete on video referencing old table as old_rows
  for each statement execute function video_cdn_purge_delete();

create function delivery_set_cdn_purge_delete() returns trigger language plpgsql set search_path from current as $$
begin
  perform enqueue_cdn_purges(array_agg(video_id order by video_id), array_agg(version order by video_id)) from old_rows;
  return null;
end $$;
create trigger delivery_set_cdn_purge_delete after delete on delivery_set referencing old table as old_rows
  for each statement execute function delivery_set_cdn_purge_delete();
