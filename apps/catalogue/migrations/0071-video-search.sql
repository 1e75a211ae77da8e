-- Typos are found by pg_trgm. It is a trusted extension: a role that may create in the database may create it. Where it is there
-- already, in whatever schema, it is used from there.
create extension if not exists pg_trgm;

create sequence video_search_serial;

-- What a search reads of a video, for callers of its organisation only. Kept by triggers, so that no writer can forget it.
create table video_search (
  video_id        bigint primary key references video on delete cascade,
  media_id        bigint not null,
  organisation_id bigint not null,
  create_time     timestamptz(3) not null,
  title_key       text not null,
  -- Of title (A), tags (B), description (C) and media title (D); and, so that one index narrows all of it, marks: `@` with the
  -- organisation's id, `=` with the state, `#` with each tag as it is, and `%` with the number of the window.
  words           tsvector not null,
  -- Each 16,384 videos that follow one another are a window: where very many match, the newest windows are searched.
  serial          bigint not null
);

-- Letters stand without their accents, in one form and of one width. Without the signs of ASCII, the parser of PostgreSQL sees no addresses,
-- files, tags or hyphens: words and nothing else.
create function plain_words(text text) returns text language sql immutable parallel safe return
  translate(
    normalize(regexp_replace(normalize(text, nfkd), E'[\u0300-\u036f]+', '', 'g'), nfkc),
    E'!"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~', repeat(' ', 32));

create function search_words(v video, media_title text, serial bigint) returns tsvector
language sql immutable parallel safe set search_path from current as $$
  select setweight(to_tsvector('pg_catalog.simple', plain_words(v.title)), 'A')
    || setweight(to_tsvector('pg_catalog.simple', plain_words(array_to_string(v.tags, ' '))), 'B')
    || setweight(to_tsvector('pg_catalog.simple', plain_words(v.description)), 'C')
    || case when media_title = v.title then '' else to_tsvector('pg_catalog.simple', plain_words(media_title)) end
    || array_to_tsvector(array['@' || v.organisation_id, '=' || v.state, '%' || serial / 16384] || array(select '#' || tag from unnest(v.tags) as tag))
$$;

insert into video_search (video_id, media_id, organisation_id, create_time, title_key, words, serial)
  select v.video_id, v.media_id, v.organisation_id, v.create_time, lower(v.title), search_words(v, m.title, n.serial), n.serial
  from (select video_id, nextval('video_search_serial') as serial from (select video_id from video order by create_time, video_id) o) n
    join video v using (video_id) join media m on m.media_id = v.media_id;
-- A list of pending entries is read whole by every search: a short one.
create index video_search_words on video_search using gin (words) with (gin_pending_list_limit = 256);
create index video_search_media on video_search (media_id);

-- What is said in a media, once for all its videos. Large captions take long to part into words, so that is done behind the change that asks
-- for it, by `renew_spoken`.
create table media_spoken (
  media_id        bigint primary key references media on delete cascade,
  organisation_id bigint not null,
  -- Of the captions; with the marks `@` and the organisation's id, `~` and the media's.
  spoken          tsvector not null
);
create index media_spoken_words on media_spoken using gin (spoken) with (gin_pending_list_limit = 256);

-- Media whose captions changed since. Writers only add to it, so that none waits for another, or for the renewal.
create table spoken_change (
  spoken_change_id bigint generated always as identity primary key,
  media_id         bigint not null,
  organisation_id  bigint not null
);
create index spoken_change_media on spoken_change (media_id);
insert into spoken_change (media_id, organisation_id) select distinct media_id, organisation_id from caption;

-- The words of 250,000 characters, some five hours of speech. A tsvector holds 1 MiB, which they rarely are: captions beyond are left out.
create function words_of_captions(of_media bigint) returns tsvector language plpgsql stable set search_path from current as $$
declare
  spoken tsvector := '';
  budget int := 250000;
  more   tsvector;
  text   text;
begin
  for text in select left(plain_text, 250000) from caption where media_id = of_media order by caption_id loop
    text := left(text, budget);
    budget := budget - length(text);
    more := strip(to_tsvector('pg_catalog.simple', plain_words(text)));
    exit when pg_column_size(spoken) + pg_column_size(more) > 1000000;
    spoken := spoken || more;
    exit when budget = 0;
  end loop;
  return spoken;
end $$;

-- The captions are read by a later statement than the one that takes the changes away: nothing of these is missed. False when another
-- renews the media just now; its changes are still there then.
create function renew_spoken(of_media bigint) returns boolean language plpgsql set search_path from current as $$
begin
  perform from media_spoken where media_id = of_media for no key update skip locked;
  if not found and exists (select from media_spoken where media_id = of_media) then return false; end if;
  delete from spoken_change where media_id = of_media;
  update media_spoken
    set spoken = words_of_captions(media_id) || array_to_tsvector(array['@' || organisation_id, '~' || media_id])
    where media_id = of_media;
  return true;
end $$;

-- Each word of a title, once, for what may be meant by a typo. Words that no title has any more are swept.
create table title_word (
  word text collate "C" primary key
);

-- Numbers are no typos of one another, and short words resemble too many.
create function note_title_words(titles text[]) returns void language sql set search_path from current as $$
  insert into title_word (word)
    select distinct w.word collate "C"
    from unnest(titles) as title, unnest(tsvector_to_array(to_tsvector('pg_catalog.simple', plain_words(title)))) as w (word)
    where length(w.word) between 4 and 40 and w.word !~ '[0-9]'
      and not exists (select from title_word known where known.word = w.word collate "C")
    order by 1
  on conflict do nothing
$$;
do $$ begin perform note_title_words(array(select title from video)); end $$;

do $$
declare
  home text;
begin
  select quote_ident(n.nspname) into home from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  execute format('create index title_word_trigrams on title_word using gin (word %s.gin_trgm_ops)', home);
  -- A transposition costs a word of six letters most of its trigrams.
  execute format(
    'create function similar_title_words(wanted text) returns table (word text)
     language sql stable set pg_trgm.similarity_threshold = 0.25 as $f$
       select t.word from title_word t where t.word operator(%1$s.%%) wanted
       order by %1$s.similarity(t.word, wanted) desc, t.word limit 100 $f$', home);
end $$;

create function video_search_in() returns trigger language plpgsql set search_path from current as $$
begin
  insert into video_search (video_id, media_id, organisation_id, create_time, title_key, words, serial)
    select v.video_id, v.media_id, v.organisation_id, v.create_time, lower(v.title), search_words(v, m.title, n.serial), n.serial
    from (select video_id, nextval('video_search_serial') as serial from new_rows) n
      join video v using (video_id) join media m on m.media_id = v.media_id;
  perform note_title_words(array(select title from new_rows));
  return null;
end $$;
create trigger video_search_in after insert on video referencing new table as new_rows
  for each statement execute function video_search_in();

-- The locks come first, in one order: what is read after them cannot be older than what another transaction wrote before.
create function renew_search_words(videos bigint[]) returns void language plpgsql set search_path from current as $$
begin
  perform from video_search where video_id = any (videos) order by video_id for update;
  update video_search s
    set title_key = lower(v.title), words = search_words(v, m.title, s.serial)
    from video v join media m using (media_id)
    where v.video_id = any (videos) and s.video_id = v.video_id;
end $$;

create function video_search_over() returns trigger language plpgsql set search_path from current as $$
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
    perform renew_search_words(renamed);
    perform note_title_words(array(select title from new_rows));
  end if;
  return null;
end $$;
create trigger video_search_over after update on video referencing old table as old_rows new table as new_rows
  for each statement execute function video_search_over();

create function media_search_over() returns trigger language plpgsql set search_path from current as $$
declare
  renamed bigint[];
begin
  renamed := array(
    select v.video_id from new_rows n join old_rows o using (media_id) join video v using (media_id)
    where n.title <> o.title order by v.video_id);
  if renamed <> '{}' then perform renew_search_words(renamed); end if;
  return null;
end $$;
create trigger media_search_over after update on media referencing old table as old_rows new table as new_rows
  for each statement execute function media_search_over();

create function caption_search_in() returns trigger language plpgsql set search_path from current as $$
begin
  insert into spoken_change (media_id, organisation_id) select distinct media_id, organisation_id from new_rows;
  return null;
end $$;
create trigger caption_search_in after insert on caption referencing new table as new_rows
  for each statement execute function caption_search_in();

create function caption_search_out() returns trigger language plpgsql set search_path from current as $$
begin
  insert into spoken_change (media_id, organisation_id) select distinct media_id, organisation_id from old_rows;
  return null;
end $$;
create trigger caption_search_out after delete on caption referencing old table as old_rows
  for each statement execute function caption_search_out();

create function caption_search_over() returns trigger language plpgsql set search_path from current as $$
begin
  insert into spoken_change (media_id, organisation_id)
    select distinct unnest(array[o.media_id, n.media_id]), n.organisation_id from new_rows n join old_rows o using (caption_id)
    where n.media_id <> o.media_id or n.plain_text <> o.plain_text;
  return null;
end $$;
create trigger caption_search_over after update on caption referencing old table as old_rows new table as new_rows
  for each statement execute function caption_search_over();
