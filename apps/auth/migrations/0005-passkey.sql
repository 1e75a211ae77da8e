-- A passkey of a user: a public key whose private key an authenticator has (WebAuthn).
create table passkey (
  passkey_id     bigint generated always as identity primary key,
  user_id        bigint not null references users on delete cascade,
  -- base64url without padding.
  credential_id  text not null,
  -- COSE key.
  public_key     bytea not null,
  -- Number of signatures, if the authenticator counts them. Otherwise 0.
  counter        bigint not null check (counter >= 0),
  transports     text[] not null,
  name           text not null,
  backed_up      boolean not null,
  create_time    timestamptz(3) not null default now(),
  last_used_time timestamptz(3),
  constraint passkey_credential unique (credential_id)
);
create index passkey_user on passkey (user_id, passkey_id);

-- A registration or sign-in that has started. It is deleted when the browser returns the response of the authenticator.
create table passkey_challenge (
  -- SHA-256 of the secret of the browser that began.
  browser_hash bytea primary key,
  purpose      text not null check (purpose in ('registration', 'sign_in')),
  -- The only user who may end it. Null for a sign-in by a passkey alone.
  user_id      bigint references users on delete cascade,
  challenge    text not null,
  expire_time  timestamptz(3) not null,
  check (user_id is not null or purpose = 'sign_in')
);
create index passkey_challenge_user on passkey_challenge (user_id);
create index passkey_challenge_expired on passkey_challenge (expire_time);

-- The password alone does not sign the user in.
alter table users add column passkey_required boolean not null default false;
