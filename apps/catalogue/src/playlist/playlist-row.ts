import type { Playlist, PlaylistFields } from './playlist.ts'

/** The columns that users can change, in the order of `playlistValues`. */
export const PLAYLIST_COLUMNS = `playlist_type, title, description, monetization_url, randomise, video_limit, open_in_playlist_view,
  settings, monetization_json`

/** $1 to $9 with casts, because a `select` does not infer the types of the target columns. */
export const PLAYLIST_PARAMETERS = '$1::text, $2::text, $3::text, $4::text, $5::boolean, $6::smallint, $7::boolean, $8::text, $9::text'

export function playlistValues(fields: PlaylistFields): unknown[] {
  return [
    fields.playlistType,
    fields.title,
    fields.description,
    fields.monetizationUrl,
    fields.randomise,
    fields.videoLimit,
    fields.openInPlaylistView,
    fields.settings,
    fields.monetizationJson,
  ]
}

/**
 * SQL that selects playlists with the ids of their videos. Append a WHERE clause.
 */
export const SELECT_PLAYLIST = `
  select l.playlist_id, l.organisation_id, l.playlist_type, l.title, l.description, l.monetization_url, l.randomise, l.video_limit,
    l.open_in_playlist_view, l.settings, l.monetization_json, l.created_by_user_id, l.create_time, l.update_time,
    o.active as organisation_active,
    array(select p.video_id from playlist_video p where p.playlist_id = l.playlist_id order by p.position) as video_ids,
    exists (
      select from playlist_video p join video v using (video_id)
      where p.playlist_id = l.playlist_id and cardinality(v.allowed_ips) + cardinality(o.allowed_ips) > 0
    ) as ip_restricted
  from playlist l join organisation o using (organisation_id)`

export interface PlaylistRow {
  playlist_id: string
  organisation_id: string
  playlist_type: string
  title: string
  description: string
  monetization_url: string
  randomise: boolean
  video_limit: number
  open_in_playlist_view: boolean
  settings: string
  monetization_json: string
  created_by_user_id: string
  create_time: Date
  update_time: Date
  organisation_active: boolean
  video_ids: string[]
  ip_restricted: boolean
}

export function toPlaylist(row: PlaylistRow): Playlist {
  return {
    playlistId: row.playlist_id,
    organisationId: row.organisation_id,
    playlistType: row.playlist_type,
    title: row.title,
    description: row.description,
    monetizationUrl: row.monetization_url,
    randomise: row.randomise,
    videoLimit: row.video_limit,
    openInPlaylistView: row.open_in_playlist_view,
    settings: row.settings,
    monetizationJson: row.monetization_json,
    videoIds: row.video_ids,
    ipRestricted: row.ip_restricted,
    createdByUserId: row.created_by_user_id,
    createTime: row.create_time,
    updateTime: row.update_time,
  }
}
