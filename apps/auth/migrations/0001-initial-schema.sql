-- An organisation. Number 1 is the system's own, which the first start creates.
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
  -- Orders the replicas of other services.
  revision                bigint not null default 1,
  create_time             timestamptz(3) not null default now(),
  update_time             timestamptz(3) not null default now()
);

-- A user of an organisation. The name is plural because "user" is a keyword of SQL.
create table users (
  user_id            bigint generated always as identity primary key,
  organisation_id    bigint not null references organisation,
  first_name         text not null,
  last_name          text not null,
  email              text not null,
  user_type          text not null check (user_type in ('uploader', 'standard', 'system')),
  status             text not null check (status in ('invited', 'active')),
  telephone_land     text not null default '',
  -- argon2id
  password_hash      text,
  -- Stays when the inviting user is deleted.
  invited_by_user_id bigint,
  create_time        timestamptz(3) not null default now(),
  update_time        timestamptz(3) not null default now()
);
create unique index users_email on users (lower(email));
create index users_organisation on users (organisation_id, user_id);
create index users_system on users (user_id) where user_type = 'system';

-- A resource of the access control list. Rows are not removed, because keys refer to acl_id.
create table resource (
  acl_id        int generated always as identity primary key,
  name          text not null unique,
  open_to_users boolean not null
);

-- An API key of a user.
create table api_key (
  api_key_id       bigint generated always as identity primary key,
  user_id          bigint not null references users on delete cascade,
  application_name text not null,
  -- HMAC-SHA-256 of the value, by which the key is found.
  lookup           bytea not null unique,
  -- The value, encrypted by AES-256-GCM, bound to lookup.
  sealed_value     bytea not null,
  acl_ids          int[] not null default '{}',
  -- Grants every resource, also those that are registered later.
  all_resources    boolean not null default false,
  expire_time      timestamptz(3),
  revoke_time      timestamptz(3),
  create_time      timestamptz(3) not null default now(),
  -- Time at which the event that the key expires soon was written to the outbox.
  warn_time        timestamptz(3)
);
create index api_key_user on api_key (user_id, api_key_id);
create index api_key_to_warn on api_key (expire_time) where expire_time is not null and revoke_time is null and warn_time is null;

-- Last use of a key, written at most once a minute. A separate table, so that use writes no api_key.
create table api_key_use (
  api_key_id     bigint primary key references api_key on delete cascade,
  last_used_time timestamptz(3) not null
);

-- The result of the first start. There is one row.
create table installation (
  only_row          boolean primary key default true check (only_row),
  -- Check value of the master key. Another key would find and decrypt no API key.
  master_key_check  bytea not null,
  system_key_id     bigint references api_key on delete set null,
  -- Lookup of the last applied VITASCOPE_SYSTEM_KEY. Only a different one is applied, so that a
  -- restart does not restore a key that was revoked or regenerated.
  configured_lookup bytea
);

-- A token of a third-party service.
create table third_party_token (
  third_party_token_id bigint generated always as identity primary key,
  organisation_id      bigint not null references organisation,
  service_name         text not null default '',
  called_by            text not null default '',
  username             text not null default '',
  -- Encrypted by AES-256-GCM, bound to the id and the column; null once deleted.
  sealed_token         bytea,
  auth_url             text not null default '',
  -- JSON text, encrypted identically.
  sealed_other_data    bytea,
  expire_time          timestamptz(3),
  -- Stays when the user is deleted.
  user_id              bigint,
  create_time          timestamptz(3) not null default now(),
  update_time          timestamptz(3) not null default now(),
  delete_time          timestamptz(3)
);
-- The newest match of an attribute is the last row of its index.
create index third_party_token_organisation on third_party_token (organisation_id, third_party_token_id) where delete_time is null;
create index third_party_token_service on third_party_token (service_name, third_party_token_id) where delete_time is null;
create index third_party_token_called_by on third_party_token (called_by, third_party_token_id) where delete_time is null;
create index third_party_token_username on third_party_token (username, third_party_token_id) where delete_time is null;
-- A hash, because a URL may exceed the maximum size of an index row.
create index third_party_token_auth_url on third_party_token (md5(auth_url), third_party_token_id) where delete_time is null;
create index third_party_token_user on third_party_token (user_id, third_party_token_id) where delete_time is null;

-- A write request, recorded before it is executed. The id is a UUID of version 7: it contains the
-- time and orders the log. Every index ends with it, for time ranges and page tokens. Partitioned by
-- week; old weeks are dropped completely.
create table audit_entry (
  entry_id        uuid primary key,
  -- These three are empty for requests without a key.
  organisation_id bigint,
  user_id         bigint,
  key_start       text not null,
  action          text not null,
  object          text not null,
  request_id      text not null,
  address         text not null
) partition by range (entry_id);
create index audit_entry_organisation on audit_entry (organisation_id, entry_id);
create index audit_entry_user on audit_entry (user_id, entry_id);
create index audit_entry_action on audit_entry (action, entry_id);
create index audit_entry_object on audit_entry (object, entry_id);
create index audit_entry_organisation_action on audit_entry (organisation_id, action, entry_id);
create index audit_entry_organisation_object on audit_entry (organisation_id, object, entry_id);

-- The outcome of a write request. A separate table, because entries are not changed. After a crash
-- the row may be missing. Partitioned like audit_entry.
create table audit_outcome (
  entry_id   uuid primary key,
  status     int not null,
  created_id text not null default ''
) partition by range (entry_id);

-- The audit log is append-only. Only the transaction of the sweep sets vitascope.audit_sweep.
create function reject_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('vitascope.audit_sweep', true) = 'on' then
    return null;
  end if;
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;
create function reject_audit_row_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('vitascope.audit_sweep', true) = 'on' then
    return old;
  end if;
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;
-- Statement triggers apply to statements that name the table; row triggers also to its partitions.
create trigger audit_entry_append_only before update or delete or truncate on audit_entry
  for each statement execute function reject_audit_change();
create trigger audit_outcome_append_only before update or delete or truncate on audit_outcome
  for each statement execute function reject_audit_change();
create trigger audit_entry_rows_append_only before update or delete on audit_entry
  for each row execute function reject_audit_row_change();
create trigger audit_outcome_rows_append_only before update or delete on audit_outcome
  for each row execute function reject_audit_row_change();
revoke update, truncate on audit_entry, audit_outcome from current_user;

-- Returns the lowest id of a day. A UUID of version 7 starts with the milliseconds since 1970.
create function audit_day_id(day date) returns uuid language sql immutable as $$
  select (lpad(to_hex((extract(epoch from day::timestamp) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- The first partition contains all ids before next Monday (UTC). Each of the next eight weeks has a partition.
-- The service creates later ones.
do $$
declare
  monday date := date_trunc('week', (now() at time zone 'UTC') + interval '7 days')::date;
  parent text;
  part text;
begin
  foreach parent in array array['audit_entry', 'audit_outcome'] loop
    part := parent || '_before_' || to_char(monday, 'YYYYMMDD');
    execute format('create table %I partition of %I for values from (minvalue) to (%L)', part, parent, audit_day_id(monday));
    execute format('create trigger %I before update or delete or truncate on %I for each statement execute function reject_audit_change()',
      parent || '_append_only', part);
    execute format('revoke update, truncate on %I from current_user', part);
    for week in 0..7 loop
      part := parent || '_' || to_char(monday + week * 7, 'YYYYMMDD');
      execute format('create table %I partition of %I for values from (%L) to (%L)', part, parent,
        audit_day_id(monday + week * 7), audit_day_id(monday + week * 7 + 7));
    end loop;
  end loop;
end $$;
