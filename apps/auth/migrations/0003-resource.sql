-- Rows are never removed: keys name them by acl_id.
create table resource (
  acl_id        int generated always as identity primary key,
  name          text not null unique,
  open_to_users boolean not null
);
