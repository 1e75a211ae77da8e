-- The link with which a guest reads and adds the comments of an entry.
create table guest_link (
  entry_id    bigint primary key references entry on delete cascade,
  -- SHA-256 of the token. The token itself is not stored.
  token_hash  bytea not null unique check (length(token_hash) = 32),
  -- Time from which the token is rejected.
  expire_time timestamptz(3) not null,
  create_time timestamptz(3) not null default now()
);
