-- Functions and triggers that maintain copies, counts, search documents, events and usage. Triggers of
-- one event on one table run in order of their names.

-- The lock prevents changes of the state until this video is visible.
create function video_set_state() returns trigger language plpgsql set search_path from current as $$
begin
  -- The lock reads the latest state.
  select m.state into strict new.state from media m where m.media_id = new.media_id for share;
  return new;
end $$;
create trigger video_set_state before insert on video for each row execute function video_set_state();

create function media_copy_state() returns trigger language plpgsql set search_path from current as $$
begin
  update video v set state = n.state
    from new_rows n join old_rows o using (media_id)
    where v.media_id = n.media_id and n.state <> o.state;
  return null;
end $$;
create trigger media_copy_state after update on media referencing old table as old_rows new table as new_rows
  for each statement execute function media_copy_state();

create function video_count_insert() returns trigger language plpgsql set search_path from current as $$
begin
  insert into video_count select organisation_id, state, count(*) from new_rows group by organisation_id, state;
  return null;
end $$;
create trigger video_count_insert after insert on video referencing new table as new_rows for each statement execute function video_count_insert();

create function video_count_delete() returns trigger language plpgsql set search_path from current as $$
begin
  insert into video_count select organisation_id, state, -count(*) from old_rows group by organisation_id, state;
  return null;
end $$;
create trigger video_count_delete after delete on video referencing old table as old_rows for each statement execute function video_count_delete();

create function video_count_update() returns trigger language plpgsql set search_path from current as $$
begin
  insert into video_count
    select organisation_id, state, sum(videos) from (
      select organisation_id, state, 1 as videos from new_rows
      union all
      select organisation_id, state, -1 from old_rows) as change
    group by organisation_id, state having sum(videos) <> 0;
  return null;
end $$;
create trigger video_count_update after update on video referencing old table as old_rows new table as new_rows
  for each statement execute function video_count_update();

-- Rows of tag_count are locked in key order and after all other rows, which prevents deadlocks. The
-- functions run once for each statement. Cascading deletes count as one statement.
create function track_new_tags() returns trigger language plpgsql set search_path from current as $$
begin
  with added as (
    insert into video_tag (organisation_id, tag, create_time, video_id)
      select distinct v.organisation_id, t.tag, v.create_time, v.video_id from new_video v cross join unnest(v.tags) as t (tag)
    returning organisation_id, tag
  )
  insert into tag_count as stored (organisation_id, tag, videos)
    select organisation_id, tag, count(*) from added group by 1, 2 order by 1, 2
  on conflict (organisation_id, tag) do update set videos = stored.videos + excluded.videos;
  return null;
end $$;
create trigger video_new_tags after insert on video referencing new table as new_video
  for each statement execute function track_new_tags();

create function track_removed_tags() returns trigger language plpgsql set search_path from current as $$
begin
  with removed as (
    delete from video_tag d using old_video v cross join unnest(v.tags) as t (tag)
      where d.organisation_id = v.organisation_id and d.tag = t.tag and d.create_time = v.create_time and d.video_id = v.video_id
    returning d.organisation_id, d.tag
  )
  insert into tag_count as stored (organisation_id, tag, videos)
    select organisation_id, tag, -count(*) from removed group by 1, 2 order by 1, 2
  on conflict (organisation_id, tag) do update set videos = stored.videos + excluded.videos;
  delete from tag_count c using (select distinct v.organisation_id, t.tag from old_video v cross join unnest(v.tags) as t (tag)) g
    where c.organisation_id = g.organisation_id and c.tag = g.tag and c.videos = 0;
  return null;
end $$;
create trigger video_removed_tags after delete on video referencing old table as old_video
  for each statement execute function track_removed_tags();

create function track_changed_tags() returns trigger language plpgsql set search_path from current as $$
begin
  -- Most updates of videos do not change tags.
  if not exists (select from old_video o join new_video n using (video_id)
    where (o.tags, o.create_time, o.organisation_id) is distinct from (n.tags, n.create_time, n.organisation_id)) then
    return null;
  end if;
  with removed as (
    delete from video_tag d using (
      select v.organisation_id, t.tag, v.create_time, v.video_id from old_video v cross join unnest(v.tags) as t (tag)
      except select v.organisation_id, t.tag, v.create_time, v.video_id from new_video v cross join unnest(v.tags) as t (tag)
    ) g
      where d.organisation_id = g.organisation_id and d.tag = g.tag and d.create_time = g.create_time and d.video_id = g.video_id
    returning d.organisation_id, d.tag
  ), added as (
    insert into video_tag (organisation_id, tag, create_time, video_id)
      select v.organisation_id, t.tag, v.create_time, v.video_id from new_video v cross join unnest(v.tags) as t (tag)
      except select v.organisation_id, t.tag, v.create_time, v.video_id from old_video v cross join unnest(v.tags) as t (tag)
    returning organisation_id, tag
  )
  insert into tag_count as stored (organisation_id, tag, videos)
    select organisation_id, tag, sum(difference)
    from (select organisation_id, tag, -1 as difference from removed union all select organisation_id, tag, 1 from added) change
    group by 1, 2 having sum(difference) <> 0 order by 1, 2
  on conflict (organisation_id, tag) do update set videos = stored.videos + excluded.videos;
  delete from tag_count c using (select distinct v.organisation_id, t.tag from old_video v cross join unnest(v.tags) as t (tag)) g
    where c.organisation_id = g.organisation_id and c.tag = g.tag and c.videos = 0;
  return null;
end $$;
create trigger video_changed_tags after update on video referencing old table as old_video new table as new_video
  for each statement execute function track_changed_tags();

create function video_tag_copy_video() returns trigger language plpgsql set search_path from current as $$
begin
  select v.state, lower(v.title) into new.state, new.title_key from video v where v.video_id = new.video_id;
  return new;
end $$;
create trigger video_tag_copy_video before insert on video_tag for each row execute function video_tag_copy_video();

create function video_refresh_tags() returns trigger language plpgsql set search_path from current as $$
begin
  update video_tag t set state = n.state, title_key = lower(n.title)
    from new_rows n join old_rows o using (video_id)
    where t.video_id = n.video_id and (n.state, n.title) <> (o.state, o.title);
  return null;
end $$;
create trigger video_refresh_tags after update on video referencing old table as old_rows new table as new_rows
  for each statement execute function video_refresh_tags();

-- The lock on the video prevents that a concurrent change of its title or state misses this row.
create function folder_video_copy_video() returns trigger language plpgsql set search_path from current as $$
begin
  select v.state, lower(v.title), v.create_time into new.state, new.title_key, new.create_time
    from video v where v.video_id = new.video_id for share;
  return new;
end $$;
create trigger folder_video_copy_video before insert on folder_video for each row execute function folder_video_copy_video();

create function video_refresh_folders() returns trigger language plpgsql set search_path from current as $$
begin
  update folder_video f set state = n.state, title_key = lower(n.title)
    from new_rows n join old_rows o using (video_id)
    where f.video_id = n.video_id and (n.state, n.title) <> (o.state, o.title);
  return null;
end $$;
create trigger video_refresh_folders after update on video referencing old table as old_rows new table as new_rows
  for each statement execute function video_refresh_folders();

-- Deletes the lines of deleted captions.
create function caption_line_delete() returns trigger language plpgsql set search_path from current as $$
begin
  delete from caption_line where caption_id in (select caption_id from old_rows);
  return null;
end $$;
create trigger caption_line_delete after delete on caption referencing old table as old_rows
  for each statement execute function caption_line_delete();

-- Returns the text without accents, in one Unicode form and width. ASCII punctuation is removed, so
-- that the parser of PostgreSQL finds words only, not URLs, files or hyphens.
create function plain_words(text text) returns text language sql immutable parallel safe return
  translate(
    normalize(regexp_replace(normalize(text, nfkd), E'[\u0300-\u036f]+', '', 'g'), nfkc),
    E'!"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~', repeat(' ', 32));

-- Returns the search document of a video.
create function search_words(v video, media_title text, serial bigint) returns tsvector
language sql immutable parallel safe set search_path from current as $$
  select setweight(to_tsvector('pg_catalog.simple', plain_words(v.title)), 'A')
    || setweight(to_tsvector('pg_catalog.simple', plain_words(array_to_string(v.tags, ' '))), 'B')
    || setweight(to_tsvector('pg_catalog.simple', plain_words(v.description)), 'C')
    || case when media_title = v.title then '' else to_tsvector('pg_catalog.simple', plain_words(media_title)) end
    || array_to_tsvector(array['@' || v.organisation_id, '=' || v.state, '%' || serial / 16384] || array(select '#' || tag from unnest(v.tags) as tag))
$$;

-- Adds words for fuzzy search. Numbers and words under four letters are excluded, because they
-- resemble too many others.
create function add_title_words(titles text[]) returns void language sql set search_path from current as $$
  insert into title_word (word)
    select distinct w.word collate "C"
    from unnest(titles) as title, unnest(tsvector_to_array(to_tsvector('pg_catalog.simple', plain_words(title)))) as w (word)
    where length(w.word) between 4 and 40 and w.word !~ '[0-9]'
      and not exists (select from title_word stored where stored.word = w.word collate "C")
    order by 1
  on conflict do nothing
$$;

-- Adds the same words by organisation, in one order, which prevents deadlocks.
create function add_organisation_words(organisations bigint[], titles text[]) returns void language sql set search_path from current as $$
  insert into organisation_title_word (organisation_id, word)
    select distinct t.organisation_id, w.word collate "C"
    from unnest(organisations, titles) as t (organisation_id, title),
      unnest(tsvector_to_array(to_tsvector('pg_catalog.simple', plain_words(t.title)))) as w (word)
    where length(w.word) between 4 and 40 and w.word !~ '[0-9]'
      and not exists (
        select from organisation_title_word stored where stored.organisation_id = t.organisation_id and stored.word = w.word collate "C")
    order by 1, 2
  on conflict do nothing
$$;

-- Updates search documents. Locks come first and in one order, so the statement after them reads
-- the latest rows.
create function update_search_words(videos bigint[]) returns void language plpgsql set search_path from current as $$
begin
  perform from video_search where video_id = any (videos) order by video_id for update;
  update video_search s
    set title_key = lower(v.title), words = search_words(v, m.title, s.serial)
    from video v join media m using (media_id)
    where v.video_id = any (videos) and s.video_id = v.video_id;
end $$;

-- Returns the words of the first 250,000 characters, about five hours of speech. A tsvector contains 1
-- MiB; captions beyond that are left out.
create function caption_words(searched_media_id bigint) returns tsvector language plpgsql stable set search_path from current as $$
declare
  words tsvector := '';
  remaining int := 250000;
  caption_vector tsvector;
  text   text;
begin
  for text in select left(plain_text, 250000) from caption where media_id = searched_media_id order by caption_id loop
    text := left(text, remaining);
    remaining := remaining - length(text);
    caption_vector := strip(to_tsvector('pg_catalog.simple', plain_words(text)));
    exit when pg_column_size(words) + pg_column_size(caption_vector) > 1000000;
    words := words || caption_vector;
    exit when remaining = 0;
  end loop;
  return words;
end $$;

-- Updates the search document of a media. Returns false if another transaction updates it; the
-- changes then stay recorded. A later statement than the delete reads the captions, so no change is
-- missed.
create function update_caption_search(searched_media_id bigint) returns boolean language plpgsql set search_path from current as $$
begin
  perform from caption_search where media_id = searched_media_id for no key update skip locked;
  if not found and exists (select from caption_search where media_id = searched_media_id) then return false; end if;
  delete from caption_change where media_id = searched_media_id;
  update caption_search
    set words = caption_words(media_id) || array_to_tsvector(array['@' || organisation_id, '~' || media_id])
    where media_id = searched_media_id;
  return true;
end $$;

-- The index and functions of fuzzy search use pg_trgm in the schema in which it is installed. They
-- return words similar to a word: of all organisations, or of one organisation. The threshold is low, because a
-- transposition changes most trigrams of a word of six letters.
do $$
declare
  extension_schema text;
begin
  select quote_ident(n.nspname) into extension_schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  execute format('create index title_word_trigrams on title_word using gin (word %s.gin_trgm_ops)', extension_schema);
  execute format(
    'create function similar_title_words(searched text) returns table (word text)
     language sql stable set pg_trgm.similarity_threshold = 0.25 as $f$
       select t.word from title_word t where t.word operator(%1$s.%%) searched
       order by %1$s.similarity(t.word, searched) desc, t.word limit 100 $f$', extension_schema);
  execute format(
    'create function similar_title_words(searched text, organisation bigint) returns table (word text)
     language sql stable set pg_trgm.similarity_threshold = 0.25 as $f$
       select t.word from title_word t
       where t.word operator(%1$s.%%) searched
         and exists (select from organisation_title_word o where o.organisation_id = organisation and o.word = t.word)
       order by %1$s.similarity(t.word, searched) desc, t.word limit 100 $f$', extension_schema);
end $$;

create function video_search_insert() returns trigger language plpgsql set search_path from current as $$
begin
  insert into video_search (video_id, media_id, organisation_id, create_time, title_key, words, serial)
    select v.video_id, v.media_id, v.organisation_id, v.create_time, lower(v.title), search_words(v, m.title, n.serial), n.serial
    from (select video_id, nextval('video_search_serial') as serial from new_rows) n
      join video v using (video_id) join media m on m.media_id = v.media_id;
  perform add_title_words(array(select title from new_rows order by video_id));
  perform add_organisation_words(
    array(select organisation_id from new_rows order by video_id), array(select title from new_rows order by video_id));
  return null;
end $$;
create trigger video_search_insert after insert on video referencing new table as new_rows
  for each statement execute function video_search_insert();

create function video_search_update() returns trigger language plpgsql set search_path from current as $$
declare
  renamed bigint[];
begin
  update video_search s
    set words = ts_delete(s.words, '=' || o.state) || array_to_tsvector(array['=' || n.state]), create_time = n.create_time
    from new_rows n join old_rows o using (video_id)
    where s.video_id = n.video_id and (n.state, n.create_time) <> (o.state, o.create_time);
  renamed := array(
    select n.video_id from new_rows n join old_rows o using (video_id)
    where (n.title, n.description, n.tags) <> (o.title, o.description, o.tags) order by n.video_id);
  if renamed <> '{}' then
    perform update_search_words(renamed);
    perform add_title_words(array(select title from new_rows order by video_id));
    perform add_organisation_words(
      array(select organisation_id from new_rows order by video_id), array(select title from new_rows order by video_id));
  end if;
  return null;
end $$;
create trigger video_search_update after update on video referencing old table as old_rows new table as new_rows
  for each statement execute function video_search_update();

create function media_search_update() returns trigger language plpgsql set search_path from current as $$
declare
  renamed bigint[];
begin
  renamed := array(
    select v.video_id from new_rows n join old_rows o using (media_id) join video v using (media_id)
    where n.title <> o.title order by v.video_id);
  if renamed <> '{}' then perform update_search_words(renamed); end if;
  return null;
end $$;
create trigger media_search_update after update on media referencing old table as old_rows new table as new_rows
  for each statement execute function media_search_update();

create function caption_search_insert() returns trigger language plpgsql set search_path from current as $$
begin
  insert into caption_change (media_id, organisation_id) select distinct media_id, organisation_id from new_rows;
  return null;
end $$;
create trigger caption_search_insert after insert on caption referencing new table as new_rows
  for each statement execute function caption_search_insert();

create function caption_search_delete() returns trigger language plpgsql set search_path from current as $$
begin
  insert into caption_change (media_id, organisation_id) select distinct media_id, organisation_id from old_rows;
  return null;
end $$;
create trigger caption_search_delete after delete on caption referencing old table as old_rows
  for each statement execute function caption_search_delete();

create function caption_search_update() returns trigger language plpgsql set search_path from current as $$
begin
  insert into caption_change (media_id, organisation_id)
    select distinct unnest(array[o.media_id, n.media_id]), n.organisation_id from new_rows n join old_rows o using (caption_id)
    where n.media_id <> o.media_id or n.plain_text <> o.plain_text;
  return null;
end $$;
create trigger caption_search_update after update on caption referencing old table as old_rows new table as new_rows
  for each statement execute function caption_search_update();

-- The lock on the lane is held until the commit: a transaction that empties the lane waits for it
-- and then sees the delivery.
create function queue_deliveries() returns trigger language plpgsql set search_path from current as $$
begin
  insert into webhook_lane as lane (webhook_id, object_key, organisation_id)
    select distinct d.webhook_id, d.object_key, w.organisation_id
    from new_rows d join webhook w using (webhook_id) where d.state = 'waiting' order by d.webhook_id, d.object_key
  on conflict (webhook_id, object_key) do update set organisation_id = lane.organisation_id;
  return null;
end $$;
create trigger queue_deliveries after insert on webhook_delivery referencing new table as new_rows
  for each statement execute function queue_deliveries();

-- Inserts a delivery for each subscribed webhook. No webhook subscribes to `webhook.*` events:
-- their writer queues them for one webhook.
create function event_fan_out() returns trigger language plpgsql set search_path from current as $$
begin
  insert into webhook_delivery (webhook_id, event_id, object_key)
    select w.webhook_id, n.event_id, n.object_key
    from new_rows n join webhook w on w.organisation_id = n.organisation_id and w.enabled and n.type = any (w.events)
    order by w.webhook_id
    -- The lock waits while a webhook is being deleted. That webhook then gets no event.
    for key share of w;
  return null;
end $$;
create trigger event_fan_out after insert on event referencing new table as new_rows for each statement execute function event_fan_out();

-- Events of videos and captions are written by triggers, because cascades also delete them. Writers
-- have the lock of the media, so events of a media are in order of their causes.
create function video_event_insert() returns trigger language plpgsql set search_path from current as $$
begin
  insert into event (type, organisation_id, object_key, data)
    select 'video.created', n.organisation_id, 'media:' || n.media_id,
      jsonb_build_object('video_id', n.video_id::text, 'media_id', n.media_id::text, 'organisation_id', n.organisation_id::text)
    from new_rows n
    where exists (select from webhook w where w.organisation_id = n.organisation_id and w.enabled and 'video.created' = any (w.events));
  return null;
end $$;
create trigger video_event_insert after insert on video referencing new table as new_rows
  for each statement execute function video_event_insert();

create function video_event_delete() returns trigger language plpgsql set search_path from current as $$
begin
  insert into event (type, organisation_id, object_key, data)
    select 'video.deleted', o.organisation_id, 'media:' || o.media_id,
      jsonb_build_object('video_id', o.video_id::text, 'media_id', o.media_id::text, 'organisation_id', o.organisation_id::text)
    from old_rows o
    where exists (select from webhook w where w.organisation_id = o.organisation_id and w.enabled and 'video.deleted' = any (w.events));
  return null;
end $$;
create trigger video_event_delete after delete on video referencing old table as old_rows
  for each statement execute function video_event_delete();

create function caption_event_insert() returns trigger language plpgsql set search_path from current as $$
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
create trigger caption_event_insert after insert on caption referencing new table as new_rows
  for each statement execute function caption_event_insert();

-- Adds stored bytes to the usage of an organisation; a negative number removes them.
create function add_usage(organisation bigint, added_bytes bigint) returns void language sql set search_path from current as $$
  insert into organisation_usage as stored (organisation_id, bytes) values (organisation, added_bytes)
  on conflict (organisation_id) do update set bytes = stored.bytes + excluded.bytes
$$;

-- Counts bytes and minutes when a media gets another set. The minutes of a job are counted once.
create function media_set_usage() returns trigger language plpgsql set search_path from current as $$
declare
  finished_job record;
begin
  new.set_bytes := coalesce((new.renditions ->> 'bytes')::bigint, 0);
  perform add_usage(new.organisation_id, new.set_bytes - old.set_bytes);
  update job set used_ms = round(coalesce((new.renditions ->> 'durationSeconds')::numeric, 0) * 1000)
    where job_id = new.set_job_id and used_ms = 0 returning organisation_id, quota_month, used_ms into finished_job;
  if finished_job.used_ms > 0 then
    insert into organisation_minutes as stored (organisation_id, month, used_ms)
      values (finished_job.organisation_id, finished_job.quota_month, finished_job.used_ms)
    on conflict (organisation_id, month) do update set used_ms = stored.used_ms + excluded.used_ms;
  end if;
  return new;
end $$;
create trigger media_set_usage before update on media for each row
  when (old.set_job_id is distinct from new.set_job_id) execute function media_set_usage();

create function media_release_usage() returns trigger language plpgsql set search_path from current as $$
begin
  perform add_usage(old.organisation_id, -old.set_bytes);
  return null;
end $$;
create trigger media_release_usage after delete on media for each row when (old.set_bytes <> 0) execute function media_release_usage();

create function slide_set_usage() returns trigger language plpgsql set search_path from current as $$
begin
  perform add_usage((select organisation_id from presentation where presentation_id = new.presentation_id), new.bytes);
  return null;
end $$;
create trigger slide_set_usage after insert on slide_set for each row execute function slide_set_usage();

-- Moves the bytes of the slides when a presentation is deleted or gets another organisation.
create function presentation_move_usage() returns trigger language plpgsql set search_path from current as $$
declare
  slide_bytes bigint := coalesce((select sum(bytes) from slide_set where presentation_id = old.presentation_id), 0);
begin
  if tg_op = 'DELETE' then
    if slide_bytes <> 0 then perform add_usage(old.organisation_id, -slide_bytes); end if;
    return old;
  end if;
  -- Usage rows are locked in the order of their ids, which prevents deadlocks.
  perform add_usage(least(old.organisation_id, new.organisation_id),
    case when old.organisation_id < new.organisation_id then -slide_bytes else slide_bytes end);
  perform add_usage(greatest(old.organisation_id, new.organisation_id),
    case when old.organisation_id < new.organisation_id then slide_bytes else -slide_bytes end);
  return new;
end $$;
create trigger presentation_move_usage before delete on presentation for each row execute function presentation_move_usage();
create trigger presentation_update_usage before update on presentation for each row
  when (old.organisation_id <> new.organisation_id) execute function presentation_move_usage();

create function added_rendition_usage() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op <> 'INSERT' then perform add_usage(old.organisation_id, -old.bytes); end if;
  if tg_op <> 'DELETE' then perform add_usage(new.organisation_id, new.bytes); end if;
  return null;
end $$;
create trigger added_rendition_usage after insert or update of bytes or delete on added_rendition
  for each row execute function added_rendition_usage();
