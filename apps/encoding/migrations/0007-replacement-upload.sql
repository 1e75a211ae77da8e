-- The media whose source a complete upload replaces. Null: the upload becomes a new video.
alter table tus_upload add column media_id bigint;
