-- When the event that a key expires soon was left in the outbox.
alter table api_key add column warn_time timestamptz(3);
create index api_key_to_warn on api_key (expire_time) where expire_time is not null and revoke_time is null and warn_time is null;

-- Apart from the keys, which nobody writes to while they are only used. Written at most once a minute for a key.
create table api_key_use (
  api_key_id     bigint primary key references api_key on delete cascade,
  last_used_time timestamptz(3) not null
);
