-- Objects that browsers put into the store under a signed policy, or that are about to come.
create table upload (
  upload_id       uuid primary key default gen_random_uuid(),
  organisation_id text not null,
  -- The key that the policy named.
  object          text not null unique,
  -- As its uploader called it; empty before it was told.
  filename        text not null default '',
  -- Null until the object is known to be there.
  bytes           bigint,
  etag            text not null default '',
  create_time     timestamptz(3) not null default now(),
  -- Then it goes, unless a job still reads it.
  expire_time     timestamptz(3) not null,
  -- It is going: nobody is told of it any more.
  drop_time       timestamptz(3)
);
create index upload_expire on upload (expire_time);
-- Jobs that read an upload, for as long as the upload is kept for them.
create index job_upload_source on job (source_url) where source_url like 'upload:%' or source_url like 'tus:%';
create index job_slides_source on job ((source ->> 'object')) where kind = 'slides';
