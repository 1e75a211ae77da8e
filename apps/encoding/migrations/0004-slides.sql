-- What a job makes. The media of one that makes slides is a presentation, and its source lay in storage before it came.
alter table job add column kind text not null default 'renditions' check (kind in ('renditions', 'slides'));
