-- What organisations may use, as auth told; an unknown quota counts as none.
alter table organisation
  add column quota_known             boolean not null default false,
  add column quota_bytes             bigint,
  add column quota_minutes_per_month bigint,
  add column quota_concurrent_jobs   int;

-- What organisations use. What their jobs under way have set aside stands in the jobs, and is added up under the lock of this row: a job
-- that has ended, in whatever way, sets nothing aside any more.
create table organisation_usage (
  organisation_id bigint primary key references organisation,
  -- Stored: sets of media, and of slides.
  bytes           bigint not null
);

-- Milliseconds encoded, by the month (UTC) in which their jobs were accepted.
create table organisation_minutes (
  organisation_id bigint not null references organisation,
  month           date not null,
  used_ms         bigint not null,
  primary key (organisation_id, month)
);

-- Bytes of the set that plays, as they were counted.
alter table media add column set_bytes bigint not null default 0;
alter table job
  -- Set aside until the job ends.
  add column reserved_bytes bigint not null default 0,
  add column reserved_ms    bigint not null default 0,
  -- The quota when the job was accepted: it may be used up to then, even if it was lowered since. Null for none.
  add column quota_bytes    bigint,
  add column quota_ms       bigint,
  -- What it left for this job, for encoding; null for any.
  add column max_bytes      bigint,
  add column max_ms         bigint,
  -- The month (UTC) to which it counts.
  add column quota_month    date not null default date_trunc('month', now() at time zone 'UTC')::date,
  -- Of the set that it made.
  add column used_ms        bigint not null default 0;
alter table presentation_job
  add column reserved_bytes bigint not null default 0,
  add column quota_bytes    bigint;

-- What is there already. Other triggers have nothing to do with these columns. The length of sets that were replaced is not known any more.
alter table media disable trigger user;
update media set set_bytes = coalesce((renditions ->> 'bytes')::bigint, 0) where renditions is not null;
alter table media enable trigger user;
update job set quota_month = date_trunc('month', create_time at time zone 'UTC')::date
  where quota_month <> date_trunc('month', create_time at time zone 'UTC')::date;
update job j set used_ms = round(coalesce((m.renditions ->> 'durationSeconds')::numeric, 0) * 1000)
  from media m where m.set_job_id = j.job_id;
insert into organisation_minutes (organisation_id, month, used_ms)
  select organisation_id, quota_month, sum(used_ms) from job where used_ms > 0 group by organisation_id, quota_month;
insert into organisation_usage (organisation_id, bytes)
  select o.organisation_id,
    coalesce((select sum(m.set_bytes) from media m where m.organisation_id = o.organisation_id), 0)
      + coalesce((select sum(s.bytes) from slide_set s join presentation p using (presentation_id)
                  where p.organisation_id = o.organisation_id), 0)
  from organisation o;

create index job_reserved on job (organisation_id) include (job_id, reserved_bytes, reserved_ms, quota_month)
  where state in ('queued', 'running');
create index presentation_job_reserved on presentation_job (organisation_id) include (job_id, reserved_bytes)
  where state in ('queued', 'running');
create index job_used on job (organisation_id, quota_month) include (used_ms) where used_ms > 0;
create index media_set_bytes on media (organisation_id) include (set_bytes) where set_bytes > 0;
create index presentation_organisation on presentation (organisation_id);

create function add_usage(used_by bigint, added bigint) returns void language sql set search_path from current as $$
  insert into organisation_usage as known (organisation_id, bytes) values (used_by, added)
  on conflict (organisation_id) do update set bytes = known.bytes + excluded.bytes
$$;

-- Bytes and minutes are counted where a media takes a set, so that no writer can forget them, and once for a job, as it makes one set.
create function media_set_counts() returns trigger language plpgsql set search_path from current as $$
declare
  made record;
begin
  new.set_bytes := coalesce((new.renditions ->> 'bytes')::bigint, 0);
  perform add_usage(new.organisation_id, new.set_bytes - old.set_bytes);
  update job set used_ms = round(coalesce((new.renditions ->> 'durationSeconds')::numeric, 0) * 1000)
    where job_id = new.set_job_id and used_ms = 0 returning organisation_id, quota_month, used_ms into made;
  if made.used_ms > 0 then
    insert into organisation_minutes as known (organisation_id, month, used_ms)
      values (made.organisation_id, made.quota_month, made.used_ms)
    on conflict (organisation_id, month) do update set used_ms = known.used_ms + excluded.used_ms;
  end if;
  return new;
end $$;
-- Progress does not come here.
create trigger media_set_counts before update on media for each row
  when (old.set_job_id is distinct from new.set_job_id) execute function media_set_counts();

create function media_gives_back() returns trigger language plpgsql set search_path from current as $$
begin
  perform add_usage(old.organisation_id, -old.set_bytes);
  return null;
end $$;
create trigger media_gives_back after delete on media for each row when (old.set_bytes <> 0) execute function media_gives_back();

create function slide_set_counts() returns trigger language plpgsql set search_path from current as $$
begin
  perform add_usage((select organisation_id from presentation where presentation_id = new.presentation_id), new.bytes);
  return null;
end $$;
create trigger slide_set_counts after insert on slide_set for each row execute function slide_set_counts();

-- Its slides go along with a presentation: when it is deleted, and when it is given to another organisation.
create function presentation_gives_back() returns trigger language plpgsql set search_path from current as $$
declare
  held bigint := coalesce((select sum(bytes) from slide_set where presentation_id = old.presentation_id), 0);
begin
  if tg_op = 'DELETE' then
    if held <> 0 then perform add_usage(old.organisation_id, -held); end if;
    return old;
  end if;
  -- In the order of the ids, so that two that are exchanged do not wait for each other.
  perform add_usage(least(old.organisation_id, new.organisation_id),
    case when old.organisation_id < new.organisation_id then -held else held end);
  perform add_usage(greatest(old.organisation_id, new.organisation_id),
    case when old.organisation_id < new.organisation_id then held else -held end);
  return new;
end $$;
create trigger presentation_gives_back before delete on presentation for each row execute function presentation_gives_back();
create trigger presentation_takes_along before update on presentation for each row
  when (old.organisation_id <> new.organisation_id) execute function presentation_gives_back();
