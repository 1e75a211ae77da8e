-- Tags that differ in case are different ones, in one order everywhere.
-- Each tag of each video once more, as lists of tagged videos read it. A trigger on video keeps both tables.
create table video_tag (
  organisation_id bigint not null,
  tag             text collate "C" not null,
  create_time     timestamptz(3) not null,
  video_id        bigint not null,
  primary key (organisation_id, tag, create_time, video_id)
);
-- How many videos have a tag; a tag that none has has no row.
create table tag_count (
  organisation_id bigint not null,
  tag             text collate "C" not null,
  videos          bigint not null,
  primary key (organisation_id, tag)
);
create index tag_count_most on tag_count (organisation_id, videos desc, tag);

-- Counts are locked in the order of their key, and last of all that a change locks, so that changes never wait in a circle. The functions
-- run once a statement; those of a cascade count as one.
create function track_new_tags() returns trigger language plpgsql set search_path from current as $$
begin
  with come as (
    insert into video_tag (organisation_id, tag, create_time, video_id)
      select distinct v.organisation_id, t.tag, v.create_time, v.video_id from new_video v cross join unnest(v.tags) as t (tag)
    returning organisation_id, tag
  )
  insert into tag_count as known (organisation_id, tag, videos)
    select organisation_id, tag, count(*) from come group by 1, 2 order by 1, 2
  on conflict (organisation_id, tag) do update set videos = known.videos + excluded.videos;
  return null;
end $$;

create function track_gone_tags() returns trigger language plpgsql set search_path from current as $$
begin
  with gone as (
    delete from video_tag d using old_video v cross join unnest(v.tags) as t (tag)
      where d.organisation_id = v.organisation_id and d.tag = t.tag and d.create_time = v.create_time and d.video_id = v.video_id
    returning d.organisation_id, d.tag
  )
  insert into tag_count as known (organisation_id, tag, videos)
    select organisation_id, tag, -count(*) from gone group by 1, 2 order by 1, 2
  on conflict (organisation_id, tag) do update set videos = known.videos + excluded.videos;
  delete from tag_count c using (select distinct v.organisation_id, t.tag from old_video v cross join unnest(v.tags) as t (tag)) g
    where c.organisation_id = g.organisation_id and c.tag = g.tag and c.videos = 0;
  return null;
end $$;

create function track_changed_tags() returns trigger language plpgsql set search_path from current as $$
begin
  -- Most changes of videos are none of tags.
  if not exists (select from old_video o join new_video n using (video_id)
    where (o.tags, o.create_time, o.organisation_id) is distinct from (n.tags, n.create_time, n.organisation_id)) then
    return null;
  end if;
  with gone as (
    delete from video_tag d using (
      select v.organisation_id, t.tag, v.create_time, v.video_id from old_video v cross join unnest(v.tags) as t (tag)
      except select v.organisation_id, t.tag, v.create_time, v.video_id from new_video v cross join unnest(v.tags) as t (tag)
    ) g
      where d.organisation_id = g.organisation_id and d.tag = g.tag and d.create_time = g.create_time and d.video_id = g.video_id
    returning d.organisation_id, d.tag
  ), come as (
    insert into video_tag (organisation_id, tag, create_time, video_id)
      select v.organisation_id, t.tag, v.create_time, v.video_id from new_video v cross join unnest(v.tags) as t (tag)
      except select v.organisation_id, t.tag, v.create_time, v.video_id from old_video v cross join unnest(v.tags) as t (tag)
    returning organisation_id, tag
  )
  insert into tag_count as known (organisation_id, tag, videos)
    select organisation_id, tag, sum(difference)
    from (select organisation_id, tag, -1 as difference from gone union all select organisation_id, tag, 1 from come) change
    group by 1, 2 having sum(difference) <> 0 order by 1, 2
  on conflict (organisation_id, tag) do update set videos = known.videos + excluded.videos;
  delete from tag_count c using (select distinct v.organisation_id, t.tag from old_video v cross join unnest(v.tags) as t (tag)) g
    where c.organisation_id = g.organisation_id and c.tag = g.tag and c.videos = 0;
  return null;
end $$;

-- The triggers come first: their lock holds other changes back until what was there before is counted.
create trigger video_new_tags after insert on video referencing new table as new_video
  for each statement execute function track_new_tags();
create trigger video_gone_tags after delete on video referencing old table as old_video
  for each statement execute function track_gone_tags();
create trigger video_changed_tags after update on video referencing old table as old_video new table as new_video
  for each statement execute function track_changed_tags();

insert into video_tag (organisation_id, tag, create_time, video_id)
  select distinct v.organisation_id, t.tag, v.create_time, v.video_id from video v cross join unnest(v.tags) as t (tag);
insert into tag_count (organisation_id, tag, videos) select organisation_id, tag, count(*) from video_tag group by 1, 2;
