-- 1 is the system's own and is written by the first start.
create table organisation (
  organisation_id         bigint generated always as identity (start with 2) primary key,
  name                    text not null,
  active                  boolean not null default true,
  default_setting_id      bigint,
  default_theme_id        bigint,
  allowed_ips             text[] not null default '{}',
  quota_bytes             bigint check (quota_bytes >= 0),
  quota_minutes_per_month bigint check (quota_minutes_per_month >= 0),
  quota_concurrent_jobs   int check (quota_concurrent_jobs >= 0),
  -- Orders the copies that other services keep.
  revision                bigint not null default 1,
  create_time             timestamptz(3) not null default now(),
  update_time             timestamptz(3) not null default now()
);
