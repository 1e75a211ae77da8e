-- Downloads with a download URL, by day in UTC.
create table download_count (
  video_id        bigint not null references video on delete cascade,
  organisation_id bigint not null,
  day             date not null,
  file            text not null check (file in ('original', 'mp4', 'audio', 'caption')),
  count           bigint not null,
  primary key (video_id, day, file)
);
create index download_count_organisation on download_count (organisation_id, day);

-- Reports of delivery that are counted already, so that a retry changes nothing. They are kept for an hour.
create table download_report (
  report_id   text primary key,
  create_time timestamptz(3) not null default now()
);
create index download_report_time on download_report (create_time);
