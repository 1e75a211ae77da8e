create table video (
  video_id                       bigint primary key,
  media_id                       bigint not null references media on delete cascade,
  organisation_id                bigint not null references organisation,
  title                          text not null,
  description                    text not null,
  description_private            text not null,
  language                       text not null,
  category                       text not null,
  published_width                int,
  published_height               int,
  enabled                        boolean not null,
  age_rating                     text not null,
  tags                           text[] not null,
  expire_time                    timestamptz(3),
  expire_message                 text not null,
  sharing_text                   text not null,
  embed_within_social            boolean not null,
  languages                      jsonb not null,
  hd_allow                       boolean not null,
  hd_auto                        boolean not null,
  location                       jsonb,
  captions_show_on_load          text not null,
  -- JSON objects as text, so that they come back as they came; empty for none.
  javascript_api_json            text not null,
  monetization_json              text not null,
  events_triggered_by_click_json text not null,
  -- Of other nouns: an id that leads nowhere counts as none.
  presentation_id                text not null,
  setting_id                     text not null,
  theme_id                       text not null,
  contact_form_id                text not null,
  allowed_ips                    text[] not null,
  creator_id                     text not null,
  last_modified_by_id            text not null,
  create_time                    timestamptz(3) not null default now(),
  -- Moved by people only.
  update_time                    timestamptz(3) not null default now(),
  -- The path segment of its files; empty until something plays.
  delivery_version               text not null default ''
);
create index video_media on video (media_id, create_time, video_id);
create index video_organisation_time on video (organisation_id, create_time, video_id);
create index video_organisation_title on video (organisation_id, lower(title), video_id);
create index video_time on video (create_time, video_id);
create index video_title on video (lower(title), video_id);
create index video_tags on video using gin (tags);

-- 16 characters, 62 bits of them strong randomness: an address that was given up cannot be met again.
create function new_delivery_version() returns text language sql volatile
  return right(replace(gen_random_uuid()::text, '-', ''), 16);

-- Sets that were replaced, for viewers who have begun.
create table delivery_set (
  video_id    bigint not null references video on delete cascade,
  version     text not null,
  job_id      bigint not null,
  prefix      text not null,
  expire_time timestamptz(3) not null,
  primary key (video_id, version)
);
create index delivery_set_job on delivery_set (job_id);
create index delivery_set_expire on delivery_set (expire_time);
