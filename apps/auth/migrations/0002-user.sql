-- In the plural because "user" is a word of SQL.
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
  -- Stays when the one who invited is deleted.
  invited_by_user_id bigint,
  create_time        timestamptz(3) not null default now(),
  update_time        timestamptz(3) not null default now()
);
create unique index users_email on users (lower(email));
create index users_organisation on users (organisation_id, user_id);
create index users_system on users (user_id) where user_type = 'system';
