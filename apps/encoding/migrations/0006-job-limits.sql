-- What the owner's quota left for the source of a job when it was accepted; null for any.
alter table job add column max_bytes bigint, add column max_seconds double precision;
