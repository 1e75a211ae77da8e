create table overlay (
  overlay_id           bigint generated always as identity primary key,
  organisation_id      bigint not null references organisation,
  -- Of the same organisation; null for none.
  media_id             bigint references media on delete cascade,
  disabled             boolean not null,
  at_end               boolean not null,
  -- Seconds; both or none.
  start_seconds        int,
  end_seconds          int,
  title                text not null,
  description          text not null,
  image_path           text not null,
  link_text            text not null,
  link_action          text not null,
  link_url             text not null,
  link_target          text not null,
  link_javascript_code text not null,
  language             text not null,
  width                int,
  height               int,
  create_time          timestamptz(3) not null default now(),
  update_time          timestamptz(3) not null default now(),
  check ((start_seconds is null) = (end_seconds is null))
);
create index overlay_media on overlay (media_id, overlay_id);
create index overlay_organisation on overlay (organisation_id, overlay_id) where not disabled;
