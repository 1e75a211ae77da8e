-- A sign-in at an identity provider that has started. It is deleted when the provider returns the user.
create table oidc_sign_in (
  -- SHA-256 of the parameter state, and of the cookie of the browser that began.
  state_hash    bytea primary key,
  browser_hash  bytea not null,
  nonce         text not null,
  code_verifier text not null,
  expire_time   timestamptz(3) not null
);
create index oidc_sign_in_expired on oidc_sign_in (expire_time);

-- A user of an identity provider.
create table oidc_identity (
  issuer         text not null,
  subject        text not null,
  user_id        bigint not null references users on delete cascade,
  -- The sign-in created the user, so that the groups of the provider decide its type.
  is_provisioned boolean not null,
  primary key (issuer, subject)
);
create index oidc_identity_user on oidc_identity (user_id);
