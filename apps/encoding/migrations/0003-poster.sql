-- Jobs of kind 'poster' convert a picture, or a frame of a published set, to the images of a video.
alter table job drop constraint job_kind_check;
alter table job add constraint job_kind_check check (kind in ('renditions', 'slides', 'rendition', 'poster')) not valid;
-- For kind 'poster': time of the frame in the source; null if the source is a picture.
alter table job add column at_seconds double precision;
