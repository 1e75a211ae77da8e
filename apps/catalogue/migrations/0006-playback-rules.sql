-- Rules about who may watch, of an organisation or of one video. Each row is a whole list, because
-- the order of its rules matters and a change replaces all of them.
create table playback_rules (
  organisation_id  bigint not null references organisation,
  -- Null for the rules of the organisation.
  video_id         bigint references video on delete cascade,
  -- Decision if no rule decides. Null: a video inherits it from its organisation, and organisations allow.
  default_decision text check (default_decision in ('allow', 'deny')),
  rules            jsonb not null default '[]',
  update_time      timestamptz(3) not null default now()
);
create unique index playback_rules_organisation on playback_rules (organisation_id) where video_id is null;
create unique index playback_rules_video on playback_rules (video_id) where video_id is not null;
