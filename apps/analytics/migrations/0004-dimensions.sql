-- Dimensions of the client: device, browser, operating system, country and referrer, separated by '/'. They are one
-- text, so that all dimensions of a view are those of one event. Null in rows of the previous version, which did not
-- store them. A country is looked up when the event arrives. The address is not stored.
alter table event add column client text;
alter table view add column client text;
-- Time of the event with this client.
alter table view add column client_ms bigint;

-- The following tables are roll-ups, like organisation_day: counts of the views of a UTC day by one dimension.
-- Dimension: device, browser, os, country or referrer. An organisation has a limited number of referrers on a day. A
-- row of a referrer is never deleted, because it shows that the referrer has a row of its own on that day. The views of
-- further referrers count under 'other'.
create table organisation_dimension (
  organisation_id bigint not null,
  dimension       text not null,
  day             date not null,
  value           text not null,
  loads           bigint not null,
  plays           bigint not null,
  completes       bigint not null,
  bounces         bigint not null,
  primary key (organisation_id, dimension, day, value)
);

create table video_dimension (
  video_id        bigint not null,
  dimension       text not null,
  day             date not null,
  value           text not null,
  organisation_id bigint not null,
  loads           bigint not null,
  plays           bigint not null,
  completes       bigint not null,
  bounces         bigint not null,
  primary key (video_id, dimension, day, value)
);
create index video_dimension_export on video_dimension (organisation_id, dimension, day, video_id, value);
