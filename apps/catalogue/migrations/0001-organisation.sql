-- What the catalogue must know of organisations to show their videos; auth has the original.
create table organisation (
  organisation_id    bigint primary key,
  -- Of the copy; an older one that comes late changes nothing.
  revision           bigint not null,
  active             boolean not null,
  allowed_ips        text[] not null default '{}',
  default_setting_id text not null default '',
  default_theme_id   text not null default ''
);
