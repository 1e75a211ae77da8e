-- The two messages about a delivery version are in order, but do not wait for those about other versions of the video.
-- Otherwise the first message about a version waits up to a minute for the second one about an earlier version.
create or replace function enqueue_cdn_purges(video_ids bigint[], versions text[]) returns void
language sql set search_path from current as $$
  insert into outbox (topic, key, payload, create_time, next_time)
    select 'cdn_purge', concat_ws(':', 'cdn_purge', video_id, version),
      jsonb_build_object('videoId', video_id::text, 'version', version, 'pass', pass), due, due
    from unnest(video_ids, versions) as ended (video_id, version),
      (values (1, interval '2.5 s'), (2, interval '60 s')) as passes (pass, delay),
      lateral (select now() + delay as due) as times
    where version <> ''
    order by due
$$;
