-- Captions belong to a media: all its videos show them.
create table caption (
  caption_id               bigint generated always as identity primary key,
  media_id                 bigint not null references media on delete cascade,
  organisation_id          bigint not null references organisation,
  title                    text not null,
  language                 text not null,
  -- Counts the times that its lines were replaced.
  revision                 int not null default 0,
  created_by_user_id       text not null,
  last_modified_by_user_id text not null,
  create_time              timestamptz(3) not null default now(),
  update_time              timestamptz(3) not null default now(),
  -- The words of its lines, without formatting, as far as they are searched.
  plain_text               text not null
);
-- At most 100 for one media.
create index caption_media on caption (media_id, caption_id);

-- In the order of their beginnings, which is that of their ids too.
create table caption_line (
  caption_line_id bigint generated always as identity primary key,
  caption_id      bigint not null references caption on delete cascade,
  begin_ms        int not null check (begin_ms >= 0),
  end_ms          int not null check (end_ms > begin_ms),
  text            text not null
);
create index caption_line_caption on caption_line (caption_id, caption_line_id);
