-- Jobs that add one rendition to a published set: which rendition it is, and which job made the set.
alter table job drop constraint job_kind_check;
alter table job add constraint job_kind_check check (kind in ('renditions', 'slides', 'rendition'));
alter table job add column rendition jsonb, add column set_job_id bigint;
