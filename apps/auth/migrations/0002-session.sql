-- A sign-in of a user: an API key that only a browser has. The key of a session has all resources of its user, expires,
-- and is not in the lists of keys.
create table session (
  api_key_id bigint primary key references api_key on delete cascade,
  address    text not null,
  user_agent text not null
);
