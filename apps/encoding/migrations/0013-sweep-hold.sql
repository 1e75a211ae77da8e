-- What a backup needs of the objects: nothing that its snapshot names is removed while it copies, and the names themselves.
create table sweep_hold (
  holder    uuid primary key,
  -- Until then no object is removed; a holder that lives moves it on.
  end_time  timestamptz(3) not null
);

-- All names under which objects are, or may be, in storage; one that ends with a slash stands for everything below it. Nothing else is ours.
create view stored_name as
select p.prefix || '/' as name,
       -- False for what is given up, and going.
       p.drop_time is null as is_wanted,
       -- Whether there must be objects now.
       p.drop_time is null and p.prefix ~ '^(media|slides)/' and j.state = 'ok' and not j.is_dropped as is_needed
  from object_prefix p left join job j using (job_id)
union all
select object, drop_time is null, drop_time is null and bytes is not null from upload
union all
select 'tus/' || upload_id || '/', drop_time is null, drop_time is null and received > 0 from tus_upload;
