-- The limits of an upload without a key: {"maxBytes": 1000, "kinds": ["video"]}. Null for uploads with a key.
alter table tus_upload add column ticket jsonb;
