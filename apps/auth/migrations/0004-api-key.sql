create table api_key (
  api_key_id       bigint generated always as identity primary key,
  user_id          bigint not null references users on delete cascade,
  application_name text not null,
  -- HMAC-SHA-256 of the value: the only way to find it.
  lookup           bytea not null unique,
  -- The value, AES-256-GCM, bound to lookup.
  sealed_value     bytea not null,
  acl_ids          int[] not null default '{}',
  -- Holds every resource, also those registered later.
  all_resources    boolean not null default false,
  expire_time      timestamptz(3),
  revoke_time      timestamptz(3),
  create_time      timestamptz(3) not null default now()
);
create index api_key_user on api_key (user_id, api_key_id);

-- What the first start made; one row.
create table installation (
  only_row          boolean primary key default true check (only_row),
  -- Of the master key: another one would find no key and open none.
  master_key_check  bytea not null,
  system_key_id     bigint references api_key on delete set null,
  -- Of the last VITASCOPE_SYSTEM_KEY that was applied: only another one is applied again, so that a key which was revoked or
  -- regenerated since does not come back with a restart.
  configured_lookup bytea
);
