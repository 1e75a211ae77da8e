create table third_party_token (
  third_party_token_id bigint generated always as identity primary key,
  organisation_id      bigint not null references organisation,
  service_name         text not null default '',
  called_by            text not null default '',
  username             text not null default '',
  -- AES-256-GCM, bound to the id and the column; null once deleted.
  sealed_token         bytea,
  auth_url             text not null default '',
  -- JSON text, sealed in the same way.
  sealed_other_data    bytea,
  expire_time          timestamptz(3),
  -- Stays when the user is deleted.
  user_id              bigint,
  create_time          timestamptz(3) not null default now(),
  update_time          timestamptz(3) not null default now(),
  delete_time          timestamptz(3)
);

-- The newest match of each attribute that is looked up is the last row of its index.
create index third_party_token_organisation on third_party_token (organisation_id, third_party_token_id) where delete_time is null;
create index third_party_token_service on third_party_token (service_name, third_party_token_id) where delete_time is null;
create index third_party_token_called_by on third_party_token (called_by, third_party_token_id) where delete_time is null;
create index third_party_token_username on third_party_token (username, third_party_token_id) where delete_time is null;
-- An address may be longer than an index takes.
create index third_party_token_auth_url on third_party_token (md5(auth_url), third_party_token_id) where delete_time is null;
create index third_party_token_user on third_party_token (user_id, third_party_token_id) where delete_time is null;
