-- When it was last tried to make a video of a complete upload: those that were not tried for longest come first, so that nobody's refused
-- uploads stand before those of others.
alter table tus_upload add column try_time timestamptz(3) not null default now();
