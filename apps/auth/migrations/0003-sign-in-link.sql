-- A secret that signs a user in once, without a password, and sets the password.
create table sign_in_link (
  sign_in_link_id uuid primary key default gen_random_uuid(),
  -- Null for the first user, whom the link creates.
  user_id         bigint references users on delete cascade,
  purpose         text not null check (purpose in ('first_user', 'invitation', 'password_reset')),
  -- SHA-256 of the secret. Null until the mail with the secret is sent.
  secret_hash     bytea unique,
  expire_time     timestamptz(3) not null,
  create_time     timestamptz(3) not null default now(),
  check ((user_id is null) = (purpose = 'first_user'))
);
create index sign_in_link_user on sign_in_link (user_id, create_time);
create index sign_in_link_expired on sign_in_link (expire_time);

-- Time at which a user signed in for the first time. Then there are no more links for the first user.
alter table installation add column first_sign_in_time timestamptz(3);
