-- Jobs of which the uploader said that they wait for everybody else's.
alter table job add column gives_way boolean not null default false;
