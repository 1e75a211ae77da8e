-- Player settings profiles. A video names one in setting_id, an organisation in default_setting_id; an id that leads to no profile of
-- the same organisation counts as none, so that deleting a profile that many videos name touches no video. Ids are never used again.
create table setting (
  setting_id                     bigint generated always as identity primary key,
  organisation_id                bigint not null references organisation,
  title                          text not null,
  allow_sharing                  boolean not null,
  allow_download                 boolean not null,
  lowest_quality_version         int not null,
  highest_quality_version        int not null,
  -- JSON objects as text, so that they come back as they came; empty for none.
  rolls                          text not null,
  logo_asset_id                  text not null,
  logo_destination_url           text not null,
  captions_default_on            boolean not null,
  ga_tracker_id                  text not null,
  ga_tracker_domain              text not null,
  ga_library                     text not null check (ga_library in ('legacy', 'universal')),
  monetization                   text not null,
  use_https_embed                boolean not null,
  show_title_bar                 boolean not null,
  sharing_open_link_in_new_window boolean not null,
  show_other_videos              boolean not null,
  is_auto_play                   boolean not null,
  pre_buffer                     boolean not null,
  show_controls                  boolean not null,
  autohide_controls              boolean not null,
  show_rss                       boolean not null,
  monetization_id                bigint,
  embed_wmode                    text not null,
  use_javascript_api             boolean not null,
  javascript_api_allowed_domains text not null,
  -- argon2id of the lower-case hexadecimal SHA-1 of the password; null for none.
  password_hash                  text,
  created_by_user_id             text not null,
  last_modified_by_user_id       text not null,
  create_time                    timestamptz(3) not null default now(),
  update_time                    timestamptz(3) not null default now()
);
create index setting_organisation on setting (organisation_id, setting_id);
-- For the look-up by what a video or an organisation names, which is a text.
create unique index setting_named on setting ((setting_id::text));

create index video_setting on video (setting_id) where setting_id <> '';
