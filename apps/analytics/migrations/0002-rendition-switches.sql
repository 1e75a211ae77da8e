-- Number of rendition switches. Null in rows of the previous version, which did not measure it.
alter table event add column switches int;
alter table view add column switches int;
alter table video_quality add column switches bigint not null default 0;
