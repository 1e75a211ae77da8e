-- What the rows know of the objects that are wanted, each by its own name: how long it must be, and its checksum where one was written down.
-- `npm run restore -- --verify` holds the objects of a backup against it.
create view stored_sum as
select source ->> 'object' as name, (source ->> 'bytes')::bigint as bytes, nullif(source ->> 'sha256', '') as sha256
  from job j where source is not null
    and exists (select from object_prefix p where p.job_id = j.job_id and p.drop_time is null and j.source ->> 'object' like p.prefix || '/%')
union all
select c.prefix || '/' || s.path, s.bytes, s.sha256
  from segment s join chunk c using (job_id, chunk) join object_prefix p on p.prefix = c.prefix and p.drop_time is null
union all
select p.prefix || '/' || (r ->> 'path'), (r ->> 'bytes')::bigint, null
  from object_prefix p join job j using (job_id), jsonb_array_elements(j.result -> 'renditions') r
  where p.drop_time is null and j.state = 'ok' and not j.is_dropped and p.prefix = j.result ->> 'prefix' and r ->> 'path' <> ''
union all
select object, bytes, null from upload where drop_time is null and bytes is not null
union all
select object, bytes, null from tus_part join tus_upload using (upload_id) where drop_time is null;
