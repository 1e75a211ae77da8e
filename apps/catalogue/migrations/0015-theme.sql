-- Themes, named by videos and organisations as player settings profiles are.
create table theme (
  theme_id                  bigint generated always as identity primary key,
  organisation_id           bigint not null references organisation,
  title                     text not null,
  skin                      text,
  -- #rrggbb, or empty.
  background_colour         text not null,
  text_colour               text not null,
  icon_colour               text not null,
  control_bar_colour        text not null,
  overlay_text_colour       text not null,
  overlay_background_colour text not null,
  overlay_link_colour       text not null,
  created_by_user_id        text not null,
  last_modified_by_user_id  text not null,
  create_time               timestamptz(3) not null default now(),
  update_time               timestamptz(3) not null default now()
);
create index theme_organisation on theme (organisation_id, theme_id);
create unique index theme_named on theme ((theme_id::text));

create index video_theme on video (theme_id, create_time, video_id) where theme_id <> '';
