-- Jobs for which nothing is done while there is work of others.
alter table job add column gives_way boolean not null default false;
