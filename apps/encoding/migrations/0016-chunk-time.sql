-- When the last lease of a chunk began, and when its result was taken: how fast chunks are made tells how long those that wait will take.
-- Old rows have neither, and tell nothing.
alter table chunk add column begin_time timestamptz(3), add column end_time timestamptz(3);
create index chunk_end on chunk (end_time) where end_time is not null;
