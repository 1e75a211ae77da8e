-- Set once the beginning can be watched, and catalogue is told.
alter table job add column is_playable boolean not null default false;
-- The files of one track, for the playlists that grow.
create index segment_path on segment (job_id, path text_pattern_ops);
