-- Public keys with which delivery verifies tokens that an organisation signs itself. The platform
-- never has their private keys.
create table playback_key (
  key_id          bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  name            text not null,
  algorithm       text not null check (algorithm in ('RS256', 'ES256', 'EdDSA')),
  -- SPKI in PEM.
  public_key      text not null,
  -- If false, tokens of the key are rejected.
  active          boolean not null,
  create_time     timestamptz(3) not null default now(),
  unique (organisation_id, public_key)
);
