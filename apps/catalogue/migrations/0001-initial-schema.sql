-- For fuzzy search. A trusted extension: a role that may create in the database may create it. If it
-- is installed already, it is used from its schema.
create extension if not exists pg_trgm;

-- Replica of an organisation that auth stores, with the fields that the catalogue uses.
create table organisation (
  organisation_id         bigint primary key,
  -- Revision of the replica. An older revision that arrives later is ignored.
  revision                bigint not null,
  active                  boolean not null,
  allowed_ips             text[] not null default '{}',
  default_setting_id      text not null default '',
  default_theme_id        text not null default '',
  -- If false, auth has not reported the quota yet, and there is no limit.
  has_quota               boolean not null default false,
  quota_bytes             bigint,
  quota_minutes_per_month bigint,
  quota_concurrent_jobs   int
);

-- Stored bytes of an organisation. Reservations are stored in the jobs and added up under the lock
-- of this row.
create table organisation_usage (
  organisation_id bigint primary key references organisation,
  -- Size of the sets of media and of slides.
  bytes           bigint not null
);

-- Encoded milliseconds of an organisation by the month (UTC) in which the jobs were accepted.
create table organisation_minutes (
  organisation_id bigint not null references organisation,
  month           date not null,
  used_ms         bigint not null,
  primary key (organisation_id, month)
);

-- Quota bytes that an upload reserves until it is the source of a job or is removed.
create table upload_reservation (
  -- Id of the upload. A random id until the upload has one.
  reservation_id  uuid primary key,
  organisation_id bigint not null references organisation,
  bytes           bigint not null check (bytes >= 0),
  -- If false, the upload is complete and does not count as an open upload.
  is_open         boolean not null,
  -- The reservation does not count after this time.
  expire_time     timestamptz(3) not null
);
create index upload_reservation_organisation on upload_reservation (organisation_id) include (bytes, is_open, expire_time);
create index upload_reservation_expire on upload_reservation (expire_time);

-- A player settings profile. Videos refer to it by setting_id, organisations by default_setting_id.
-- A reference to a deleted profile has no effect, so that deleting a profile changes no video. Ids
-- are not reused.
create table setting (
  setting_id                     bigint generated always as identity primary key,
  organisation_id                bigint not null references organisation,
  title                          text not null,
  allow_sharing                  boolean not null,
  allow_download                 boolean not null,
  lowest_quality_version         int not null,
  highest_quality_version        int not null,
  -- JSON objects as text, so that they are returned unchanged. The text is empty if there is no object.
  rolls                          text not null,
  logo_asset_id                  text not null,
  logo_destination_url           text not null,
  captions_default_on            boolean not null,
  ga_tracker_id                  text not null,
  ga_tracker_domain              text not null,
  ga_library                     text not null check (ga_library in ('legacy', 'universal')),
  monetization                   text not null,
  use_https_embed                boolean not null,
  show_title_bar                 boolean not null,
  sharing_open_link_in_new_window boolean not null,
  show_other_videos              boolean not null,
  is_auto_play                   boolean not null,
  pre_buffer                     boolean not null,
  show_controls                  boolean not null,
  autohide_controls              boolean not null,
  show_rss                       boolean not null,
  monetization_id                bigint,
  embed_wmode                    text not null,
  use_javascript_api             boolean not null,
  javascript_api_allowed_domains text not null,
  -- argon2id of the lower-case hexadecimal SHA-1 of the password. Null if the profile has no password.
  password_hash                  text,
  created_by_user_id             text not null,
  last_modified_by_user_id       text not null,
  create_time                    timestamptz(3) not null default now(),
  update_time                    timestamptz(3) not null default now()
);
create index setting_organisation on setting (organisation_id, setting_id);
-- References are texts.
create unique index setting_id_text on setting ((setting_id::text));

-- A player theme. Videos and organisations refer to it as they do to setting.
create table theme (
  theme_id                  bigint generated always as identity primary key,
  organisation_id           bigint not null references organisation,
  title                     text not null,
  skin                      text,
  -- #rrggbb, or empty.
  background_colour         text not null,
  text_colour               text not null,
  icon_colour               text not null,
  control_bar_colour        text not null,
  overlay_text_colour       text not null,
  overlay_background_colour text not null,
  overlay_link_colour       text not null,
  created_by_user_id        text not null,
  last_modified_by_user_id  text not null,
  create_time               timestamptz(3) not null default now(),
  update_time               timestamptz(3) not null default now()
);
create index theme_organisation on theme (organisation_id, theme_id);
create unique index theme_id_text on theme ((theme_id::text));

-- An uploaded source with its published renditions. One or more videos show it.
create table media (
  media_id          bigint primary key,
  organisation_id   bigint not null references organisation,
  title             text not null,
  original_filename text not null,
  token_required    boolean not null default false,
  gif_status        smallint not null default 0 check (gif_status in (0, 1)),
  -- The status that all its videos show.
  state             text not null check (state in ('waiting', 'encoding', 'ok', 'failed')),
  progress          smallint not null check (progress between 0 and 100),
  code              int not null,
  message           text not null default '',
  -- The published set and the job that created it; null until the first set is published.
  renditions        jsonb,
  set_job_id        bigint,
  create_time       timestamptz(3) not null default now(),
  update_time       timestamptz(3) not null default now(),
  -- Bytes of the set that plays.
  set_bytes         bigint not null default 0,
  -- The preview that plays while the first set is encoded: a set like `renditions`, without files.
  preview           jsonb,
  check ((renditions is null) = (set_job_id is null))
);
create index media_set_job on media (set_job_id) where set_job_id is not null;
create index media_organisation on media (organisation_id);
create index media_set_bytes on media (organisation_id) include (set_bytes) where set_bytes > 0;

-- Returns 16 characters with 62 random bits, so that an old URL is never reused.
create function new_delivery_version() returns text language sql volatile
  return right(replace(gen_random_uuid()::text, '-', ''), 16);

-- A video: the metadata that viewers and editors see, for one media.
create table video (
  video_id                       bigint primary key,
  media_id                       bigint not null references media on delete cascade,
  organisation_id                bigint not null references organisation,
  title                          text not null,
  description                    text not null,
  description_private            text not null,
  language                       text not null,
  category                       text not null,
  published_width                int,
  published_height               int,
  enabled                        boolean not null,
  age_rating                     text not null,
  tags                           text[] not null,
  expire_time                    timestamptz(3),
  expire_message                 text not null,
  sharing_text                   text not null,
  embed_within_social            boolean not null,
  languages                      jsonb not null,
  hd_allow                       boolean not null,
  hd_auto                        boolean not null,
  location                       jsonb,
  captions_show_on_load          text not null,
  -- JSON objects as text, so that they are returned unchanged. The text is empty if there is no object.
  javascript_api_json            text not null,
  monetization_json              text not null,
  events_triggered_by_click_json text not null,
  -- References to other records. The id of a deleted record has no effect.
  presentation_id                text not null,
  setting_id                     text not null,
  theme_id                       text not null,
  contact_form_id                text not null,
  allowed_ips                    text[] not null,
  creator_id                     text not null,
  last_modified_by_id            text not null,
  create_time                    timestamptz(3) not null default now(),
  -- Time of the last change by a user.
  update_time                    timestamptz(3) not null default now(),
  -- The path segment of its files. Empty until the video is playable.
  delivery_version               text not null default '',
  -- State of its media, for lists by state. Maintained by triggers.
  state                          text not null default 'waiting'
);
create index video_media on video (media_id, create_time, video_id);
create index video_organisation_time on video (organisation_id, create_time, video_id);
create index video_time on video (create_time, video_id);
create index video_tags on video using gin (tags);
create index video_setting on video (setting_id) where setting_id <> '';
create index video_theme on video (theme_id, create_time, video_id) where theme_id <> '';
create index video_location_country on video (organisation_id, lower(location ->> 'country'), create_time, video_id)
  where location is not null;
create index video_location_city on video (organisation_id, lower(location ->> 'city'), create_time, video_id)
  where location is not null;
create index video_presentation on video (presentation_id) where presentation_id <> '';
create index video_organisation_state_time on video (organisation_id, state, create_time, video_id);
create index video_state_time on video (state, create_time, video_id);
-- Includes the title, so that lists by title read the index only.
create index video_organisation_lower_title on video (organisation_id, lower(title), video_id) include (title);
create index video_lower_title on video (lower(title), video_id) include (title);
create index video_organisation_state_title on video (organisation_id, state, lower(title), video_id) include (title);
create index video_state_title on video (state, lower(title), video_id) include (title);

-- A replaced set that stays available until it expires, for viewers who started earlier.
create table delivery_set (
  video_id    bigint not null references video on delete cascade,
  version     text not null,
  job_id      bigint not null,
  prefix      text not null,
  expire_time timestamptz(3) not null,
  primary key (video_id, version)
);
create index delivery_set_job on delivery_set (job_id);
create index delivery_set_expire on delivery_set (expire_time);

-- Ids of media, videos, presentations and playlists.
create sequence next_id as bigint maxvalue 9007199254740991;

-- A random text id that is in use or was used.
create table random_id (
  id text collate "C" primary key
);

-- Text of a video under a name. The organisation chooses the names.
create table metadata_entry (
  video_id    bigint not null references video on delete cascade,
  -- Sorted the same in every locale.
  name        text collate "C" not null check (name ~ '^[a-z_]{1,100}$'),
  value       text not null,
  private     boolean not null,
  read_only   boolean not null,
  create_time timestamptz(3) not null default now(),
  update_time timestamptz(3) not null default now(),
  primary key (video_id, name)
);

-- An encode job. Rows outlive their media, so that late reports find them.
create table job (
  job_id          bigint generated always as identity primary key,
  video_id        bigint not null,
  media_id        bigint not null,
  organisation_id bigint not null,
  action          text not null check (action in ('new_video', 'replace', 'add_rendition')),
  state           text not null check (state in ('queued', 'running', 'ok', 'failed', 'cancelled')),
  progress        smallint not null check (progress between 0 and 100),
  code            int not null default 0,
  message         text not null default '',
  source_url      text not null,
  notify          boolean not null,
  user_id         text not null,
  -- Revision of the last applied report.
  revision        bigint not null default -1,
  create_time     timestamptz(3) not null default now(),
  start_time      timestamptz(3),
  finish_time     timestamptz(3),
  -- Time of the last report or check.
  check_time      timestamptz(3) not null default now(),
  -- First check at which encoding had ended the job while its report was missing.
  ended_since     timestamptz(3),
  -- Number of times that the job was sent to encoding again.
  send_count      smallint not null default 0,
  -- Quota that is reserved until the job ends.
  reserved_bytes  bigint not null default 0,
  reserved_ms     bigint not null default 0,
  -- Quota when the job was accepted. It applies even if it is lowered later. Null for no limit.
  quota_bytes     bigint,
  quota_ms        bigint,
  -- Remaining quota when the job was accepted, as the limit for encoding. Null for no limit.
  max_bytes       bigint,
  max_ms          bigint,
  -- Month (UTC) in which its minutes count.
  quota_month     date not null default date_trunc('month', now() at time zone 'UTC')::date,
  -- Duration of the set that it created.
  used_ms         bigint not null default 0,
  -- For action 'add_rendition': the rendition, and the job whose set it is added to.
  profile_id      int,
  set_job_id      bigint,
  -- Tasks of this job wait while tasks of normal jobs wait.
  low_priority    boolean not null default false
);
create index job_stale on job (check_time) where state in ('queued', 'running');
create index job_media on job (media_id);
create index job_reserved on job (organisation_id) include (job_id, reserved_bytes, reserved_ms, quota_month)
  where state in ('queued', 'running');
create index job_used on job (organisation_id, quota_month) include (used_ms) where used_ms > 0;
-- At most one active job makes the set of a media.
create unique index job_active_set on job (media_id) where state in ('queued', 'running') and action <> 'add_rendition';
-- At most one active job for each rendition that is added to a media.
create unique index job_active_rendition on job (media_id, profile_id) where state in ('queued', 'running') and action = 'add_rendition';

-- A media that is being deleted.
create table deletion (
  media_id        bigint primary key,
  organisation_id bigint not null,
  -- The user, and the owner of the API key.
  user_id         text not null,
  caller_id       text not null,
  notes           text not null,
  delete_time     timestamptz(3) not null default now()
);

-- An additional rendition that later uploads of an organisation get.
create table organisation_encoding_format (
  organisation_encoding_format_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  profile_id      int not null,
  unique (organisation_id, profile_id)
);

-- An additional rendition that was requested for a media.
create table media_encoding_format (
  media_id   bigint not null references media on delete cascade,
  profile_id int not null,
  primary key (media_id, profile_id)
);

-- A rendition that a job added to a published set. Its files live as long as the set.
create table added_rendition (
  job_id          bigint primary key,
  media_id        bigint not null references media on delete cascade,
  organisation_id bigint not null,
  set_job_id      bigint not null,
  prefix          text not null,
  -- Bytes that count as usage; 0 once the set is replaced.
  bytes           bigint not null
);
create index added_rendition_set on added_rendition (set_job_id);
create index added_rendition_media on added_rendition (media_id);
create index added_rendition_bytes on added_rendition (organisation_id) include (bytes) where bytes > 0;

-- A change of the number of videos in a state. Readers add the rows up, and a sweep merges them.
-- Inserts therefore do not lock each other.
create table video_count (
  organisation_id bigint not null,
  state           text not null,
  videos          bigint not null
);
create index video_count_organisation on video_count (organisation_id, state);

-- One tag of one video, for lists by tag. Tags are case-sensitive. Triggers on video maintain this
-- table and tag_count.
create table video_tag (
  organisation_id bigint not null,
  tag             text collate "C" not null,
  create_time     timestamptz(3) not null,
  video_id        bigint not null,
  -- State and lower-case title of the video, for lists by tag. Maintained by triggers.
  state           text not null default 'waiting',
  title_key       text not null default '',
  primary key (organisation_id, tag, create_time, video_id)
);
create index video_tag_organisation on video_tag (organisation_id, tag, create_time, video_id) include (state, title_key);
create index video_tag_time on video_tag (tag, create_time, video_id);
create index video_tag_title on video_tag (tag, title_key, video_id);
create index video_tag_state_time on video_tag (tag, state, create_time, video_id);
create index video_tag_state_title on video_tag (tag, state, title_key, video_id);
create index video_tag_video on video_tag (video_id, tag);

-- Number of videos that have a tag. A tag without videos has no row.
create table tag_count (
  organisation_id bigint not null,
  tag             text collate "C" not null,
  videos          bigint not null,
  primary key (organisation_id, tag)
);
create index tag_count_most on tag_count (organisation_id, videos desc, tag);

-- A folder of videos.
create table folder (
  folder_id                bigint generated always as identity primary key,
  organisation_id          bigint not null references organisation,
  name                     text not null,
  description              text not null,
  created_by_user_id       text not null,
  last_modified_by_user_id text not null,
  create_time              timestamptz(3) not null default now(),
  update_time              timestamptz(3) not null default now(),
  constraint folder_name unique (organisation_id, name)
);
create index folder_organisation on folder (organisation_id, folder_id);

-- A video in a folder of the same organisation.
create table folder_video (
  folder_id       bigint not null references folder on delete cascade,
  video_id        bigint not null references video on delete cascade,
  organisation_id bigint not null,
  -- Order of insertion.
  place           bigint generated always as identity,
  add_time        timestamptz(3) not null default now(),
  -- State, lower-case title and creation time of the video, for lists of a folder.
  state           text not null default 'waiting',
  title_key       text not null default '',
  create_time     timestamptz(3) not null default now(),
  primary key (folder_id, video_id)
);
create index folder_video_place on folder_video (folder_id, place);
create index folder_video_video on folder_video (video_id);
create index folder_video_time on folder_video (folder_id, create_time, video_id);
create index folder_video_title on folder_video (folder_id, title_key, video_id);
create index folder_video_state_time on folder_video (folder_id, state, create_time, video_id);
create index folder_video_state_title on folder_video (folder_id, state, title_key, video_id);

-- A playlist.
create table playlist (
  -- Random. Distinct from every video id, because /player/{id} opens both.
  playlist_id           bigint primary key,
  organisation_id       bigint not null references organisation,
  playlist_type         text not null,
  title                 text not null,
  description           text not null,
  monetization_url      text not null,
  randomise             boolean not null,
  -- Number of videos that are played; 0 for all.
  video_limit           smallint not null check (video_limit between 0 and 25),
  open_in_playlist_view boolean not null,
  settings              text not null,
  -- A JSON object as text, so that it is returned unchanged. The text is empty if there is no object.
  monetization_json     text not null,
  created_by_user_id    text not null,
  create_time           timestamptz(3) not null default now(),
  -- Also set by changes of the order, but not by the deletion of videos.
  update_time           timestamptz(3) not null default now()
);
create index playlist_organisation on playlist (organisation_id, create_time, playlist_id);

-- A video at a position of a playlist. A deleted video leaves a gap, which the next change closes.
create table playlist_video (
  playlist_id bigint not null references playlist on delete cascade,
  -- Limits a playlist to 25 videos, also with concurrent inserts.
  position    smallint not null check (position between 0 and 24),
  video_id    bigint not null references video on delete cascade,
  primary key (playlist_id, position)
);
create index playlist_video_video on playlist_video (video_id);

-- A caption track of a media. All videos of the media show it.
create table caption (
  caption_id               bigint generated always as identity primary key,
  media_id                 bigint not null references media on delete cascade,
  organisation_id          bigint not null references organisation,
  title                    text not null,
  language                 text not null,
  -- Number of times that its lines were replaced.
  revision                 int not null default 0,
  created_by_user_id       text not null,
  last_modified_by_user_id text not null,
  create_time              timestamptz(3) not null default now(),
  update_time              timestamptz(3) not null default now(),
  -- Searchable text of its lines, without formatting.
  plain_text               text not null
);
create index caption_media on caption (media_id, caption_id);

-- A cue of a caption track. Ids ascend in order of begin_ms. There is no foreign key: its check for
-- each of up to 20,000 lines takes as long as the insert. Writers lock the caption, and a trigger
-- deletes the lines with it.
create table caption_line (
  caption_line_id bigint generated always as identity primary key,
  caption_id      bigint not null,
  begin_ms        int not null check (begin_ms >= 0),
  end_ms          int not null check (end_ms > begin_ms),
  text            text not null
);
create index caption_line_caption on caption_line (caption_id, caption_line_id);

-- An overlay: text, image or link that the player shows over a video.
create table overlay (
  overlay_id           bigint generated always as identity primary key,
  organisation_id      bigint not null references organisation,
  -- A media of the same organisation. Null if no video shows the overlay.
  media_id             bigint references media on delete cascade,
  disabled             boolean not null,
  at_end               boolean not null,
  -- Seconds. Both are set or both are null.
  start_seconds        int,
  end_seconds          int,
  title                text not null,
  description          text not null,
  image_path           text not null,
  link_text            text not null,
  link_action          text not null,
  link_url             text not null,
  link_target          text not null,
  link_javascript_code text not null,
  language             text not null,
  width                int,
  height               int,
  create_time          timestamptz(3) not null default now(),
  update_time          timestamptz(3) not null default now(),
  check ((start_seconds is null) = (end_seconds is null))
);
create index overlay_media on overlay (media_id, overlay_id);
create index overlay_organisation on overlay (organisation_id, overlay_id) where not disabled;

-- A contact form that the player shows.
create table contact_form (
  contact_form_id      bigint generated always as identity primary key,
  organisation_id      bigint not null references organisation,
  primary_text         text not null,
  secondary_text       text not null,
  reference            text not null,
  opt_in_message       text not null,
  button_text          text not null,
  capture_names        boolean not null,
  capture_company_name boolean not null,
  capture_opt_in       boolean not null,
  gated                boolean not null,
  created_by_user_id   text not null,
  -- Number of submissions, for the limit.
  submissions          int not null default 0,
  create_time          timestamptz(3) not null default now()
);
create index contact_form_organisation on contact_form (organisation_id, contact_form_id);

-- A submission of a viewer to a contact form. The video may have been deleted.
create table contact_form_submission (
  submission_id   bigint generated always as identity primary key,
  contact_form_id bigint not null references contact_form on delete cascade,
  video_id        bigint,
  name            text not null,
  company_name    text not null,
  email           text not null,
  opt_in          boolean not null,
  create_time     timestamptz(3) not null default now()
);
create index contact_form_submission_form on contact_form_submission (contact_form_id, submission_id);

-- Slides that accompany a video.
create table presentation (
  presentation_id bigint primary key,
  organisation_id bigint not null references organisation,
  user_id         text not null,
  -- The video that it accompanies. The id stays when the video is deleted, so that the presentation
  -- stays protected.
  video_id        bigint,
  -- Name of the first file; empty before.
  filename        text not null default '',
  title           text not null,
  description     text not null,
  -- Result of the last file.
  state           text not null default 'ready' check (state in ('processing', 'ready', 'failed')),
  progress        smallint not null default 0 check (progress between 0 and 100),
  code            int not null default 0,
  reason          text not null default '',
  -- Second at which each slide appears; null while unknown. One element for each slide.
  seconds         int[] not null default '{}',
  create_time     timestamptz(3) not null default now()
);
create index presentation_organisation on presentation (organisation_id);

-- A job that makes slides of a file. Rows outlive their presentation, so that late reports find
-- them. Ids are shared with job.
create table presentation_job (
  job_id          bigint primary key default nextval('job_job_id_seq'),
  presentation_id bigint not null,
  organisation_id bigint not null,
  state           text not null check (state in ('queued', 'running', 'ok', 'failed', 'cancelled')),
  -- Unique, so that slides of an object are created once; null when the presentation is deleted.
  source_object   text unique,
  source_bytes    bigint not null,
  filename        text not null,
  -- Revision of the last applied report.
  revision        bigint not null default -1,
  create_time     timestamptz(3) not null default now(),
  finish_time     timestamptz(3),
  -- Time of the last report or check.
  check_time      timestamptz(3) not null default now(),
  -- First check at which encoding had ended the job while its report was missing.
  ended_since     timestamptz(3),
  -- Number of times that the job was sent to encoding again.
  send_count      smallint not null default 0,
  reserved_bytes  bigint not null default 0,
  quota_bytes     bigint
);
-- Files of a presentation are processed one after another, so that slides are in order of their
-- files.
create unique index presentation_job_active on presentation_job (presentation_id) where state in ('queued', 'running');
create index presentation_job_presentation on presentation_job (presentation_id);
create index presentation_job_stale on presentation_job (check_time) where state in ('queued', 'running');
create index presentation_job_reserved on presentation_job (organisation_id) include (job_id, reserved_bytes)
  where state in ('queued', 'running');

-- The slides of one file. Sets are ordered by job_id.
create table slide_set (
  job_id          bigint primary key,
  presentation_id bigint not null references presentation on delete cascade,
  -- The path segment of its files.
  version         text not null default new_delivery_version(),
  prefix          text not null,
  -- {path, thumbnailPath, width, height} by page.
  slides          jsonb not null,
  document_path   text not null,
  bytes           bigint not null
);
create index slide_set_presentation on slide_set (presentation_id, job_id);

create sequence video_search_serial;

-- Search document of a video. Maintained by triggers.
create table video_search (
  video_id        bigint primary key references video on delete cascade,
  media_id        bigint not null,
  organisation_id bigint not null,
  create_time     timestamptz(3) not null,
  title_key       text not null,
  -- Words of title (A), tags (B), description (C) and media title (D), and marks for one index: `@`
  -- + organisation id, `=` + state, `#` + tag, `%` + window number.
  words           tsvector not null,
  -- A window is 16,384 consecutive videos. If very many videos match, only the newest windows are
  -- searched.
  serial          bigint not null
);
-- Every search reads the entire pending list, so the list is short.
create index video_search_words on video_search using gin (words) with (gin_pending_list_limit = 256);
create index video_search_media on video_search (media_id);

-- Search document of the captions of a media, for all its videos. Long captions take long to parse,
-- so `update_caption_search` updates it after the change.
create table caption_search (
  media_id        bigint primary key references media on delete cascade,
  organisation_id bigint not null,
  -- Words of the captions, with the marks `@` + organisation id and `~` + media id.
  words           tsvector not null
);
create index caption_search_words on caption_search using gin (words) with (gin_pending_list_limit = 256);

-- A media whose captions changed since its search document was updated. Writers only insert, so
-- they do not wait for each other or for the update.
create table caption_change (
  caption_change_id bigint generated always as identity primary key,
  media_id          bigint not null,
  organisation_id   bigint not null
);
create index caption_change_media on caption_change (media_id);

-- A word of a title, for fuzzy search. A sweep removes words that no title contains.
create table title_word (
  word text collate "C" primary key
);

-- A word of a title of an organisation. Prefix and fuzzy search read it first, so that words of
-- other organisations do not use up the limit of candidates.
create table organisation_title_word (
  organisation_id bigint not null,
  word            text collate "C" not null,
  primary key (organisation_id, word)
);

-- An event for webhooks, written in the transaction of its cause if a webhook subscribes to it.
-- Events of other services are always stored, so that repeats are detected. They are stored for seven days.
create table event (
  event_id        text primary key default 'evt_' || replace(gen_random_uuid()::text, '-', ''),
  type            text not null,
  organisation_id bigint not null,
  -- Events of one key reach a webhook in order, such as `media:12`.
  object_key      text not null,
  data            jsonb not null,
  create_time     timestamptz(3) not null default now()
);
create index event_time on event (create_time);

-- A webhook: URL and subscribed event types of an organisation.
create table webhook (
  webhook_id      bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  url             text not null,
  events          text[] not null,
  enabled         boolean not null,
  -- Reason if the service disabled it; otherwise empty.
  disabled_reason text not null default '',
  -- Encrypted with the master key.
  secret          bytea not null,
  -- The previous secret, which also signs until old_secret_time.
  old_secret      bytea,
  old_secret_time timestamptz(3),
  create_time     timestamptz(3) not null default now()
);
create index webhook_organisation on webhook (organisation_id, webhook_id);

-- The delivery of one event to one webhook. It stays as a log entry. Partitioned by UTC day of
-- create_time. Partitions of old days are dropped. The service creates later partitions. Rows without
-- a partition go to the default one, so that the transaction of the cause does not fail.
create table webhook_delivery (
  delivery_id    bigint generated always as identity,
  webhook_id     bigint not null references webhook on delete cascade,
  event_id       text not null references event on delete cascade,
  object_key     text not null,
  -- `note` is never sent.
  state          text not null default 'waiting' constraint webhook_delivery_state_check check (state in ('waiting', 'delivered', 'failed', 'note')),
  attempt        int not null default 0,
  -- Status of the last attempt; null without a response.
  response_code  int,
  first_attempt_time timestamptz(3),
  create_time    timestamptz(3) not null default now(),
  primary key (delivery_id, create_time)
) partition by range (create_time);
create index webhook_delivery_log on webhook_delivery (webhook_id, delivery_id);
create index webhook_delivery_waiting on webhook_delivery (webhook_id, object_key, delivery_id) where state = 'waiting';
create index webhook_delivery_event on webhook_delivery (event_id);
create table webhook_delivery_default partition of webhook_delivery default;
-- The first partition contains all days up to today. Each of the next two days has a partition.
do $$
declare
  tomorrow date := (now() at time zone 'UTC')::date + 1;
  midnight timestamptz := tomorrow::timestamp at time zone 'UTC';
begin
  execute format('create table %I partition of webhook_delivery for values from (minvalue) to (%L)',
    'webhook_delivery_before_' || to_char(tomorrow, 'YYYYMMDD'), midnight);
  for day in 0..1 loop
    midnight := (tomorrow + day)::timestamp at time zone 'UTC';
    execute format('create table %I partition of webhook_delivery for values from (%L) to (%L)',
      'webhook_delivery_' || to_char(tomorrow + day, 'YYYYMMDD'), midnight, midnight + interval '1 day');
  end loop;
end $$;

-- Fences of webhook_lane. A sequence, because rows of lanes are deleted and created again.
create sequence webhook_fence;

-- A key of a webhook with waiting deliveries. The oldest delivery is tried at next_time. A sender
-- that leases a lane moves next_time past the end of its lease and draws a new fence. Its result
-- counts only while the fence is unchanged.
create table webhook_lane (
  webhook_id      bigint not null references webhook on delete cascade,
  object_key      text not null,
  organisation_id bigint not null,
  -- `infinity` while the webhook is disabled.
  next_time       timestamptz not null default now(),
  fence           bigint not null default 0,
  primary key (webhook_id, object_key)
);
create index webhook_lane_next on webhook_lane (next_time, webhook_id, organisation_id);

-- A success message to an uploader, queued in the transaction of the success. It is stored for seven days.
create table mail (
  mail_id         bigint generated always as identity primary key,
  -- Header Message-ID, the same in every attempt.
  message_id      uuid not null default gen_random_uuid(),
  job_id          bigint not null unique,
  video_id        bigint not null,
  organisation_id bigint not null,
  user_id         text not null,
  -- `dropped`: there is no recipient, or the video is deleted.
  state           text not null default 'waiting' check (state in ('waiting', 'sent', 'dropped', 'failed')),
  -- Also the fencing token. A sender stores its result only if the number is unchanged.
  attempt         int not null default 0,
  next_time       timestamptz not null default now(),
  create_time     timestamptz(3) not null default now()
);
create index mail_next on mail (next_time) where state = 'waiting';
create index mail_time on mail (create_time);
