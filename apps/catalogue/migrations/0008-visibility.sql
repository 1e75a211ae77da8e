-- Who can find a video: `public`: everyone; `unlisted`: everyone with its URL, but guests do not see it
-- in playlists and feeds; `private`: only its organisation, and viewers with a token load its files.
alter table video add column visibility text not null default 'public'
  check (visibility in ('public', 'unlisted', 'private'));
