import { type FieldError, requireValid } from '@vitascope/errors'
import { applyMask, checkText } from '@vitascope/request'
import { checkJsonObject } from '../video/video-checks.ts'
import { MAX_VIDEOS, type PlaylistFields } from './playlist.ts'

const PATHS = new Map<string, keyof PlaylistFields>([
  ['playlist_type', 'playlistType'],
  ['title', 'title'],
  ['description', 'description'],
  ['monetization_url', 'monetizationUrl'],
  ['randomise', 'randomise'],
  ['video_limit', 'videoLimit'],
  ['open_in_playlist_view', 'openInPlaylistView'],
  ['settings', 'settings'],
  ['monetization_json', 'monetizationJson'],
  ['video_ids', 'videoIds'],
])

/**
 * Returns the playlist `current` with the masked fields of `input`. Throws `invalid` with every invalid
 * field.
 */
export function mergePlaylist<Fields extends PlaylistFields>(current: Fields, input: PlaylistFields, mask: readonly string[]): Fields {
  const { fields, problems } = applyMask<PlaylistFields, Fields>(current, input, mask, PATHS)
  requireValid([...problems, ...checkPlaylist(fields)])
  return fields
}

/** Returns the problems of a playlist's fields. It does not check the organisation of the videos. */
export function checkPlaylist(fields: PlaylistFields): FieldError[] {
  const { videoLimit } = fields
  const isLimitValid = Number.isInteger(videoLimit) && videoLimit >= 0 && videoLimit <= MAX_VIDEOS
  return [
    ...checkText('playlist_type', fields.playlistType, { min: 1, max: 50 }),
    ...checkText('title', fields.title, { max: 255 }),
    ...checkText('description', fields.description, { max: 5_000 }),
    ...checkWebUrl('monetization_url', fields.monetizationUrl),
    ...(isLimitValid ? [] : [{ field: 'video_limit', message: `must be from 0 to ${MAX_VIDEOS}` }]),
    ...checkText('settings', fields.settings, { max: 10_000 }),
    ...checkJsonObject(fields.monetizationJson, 'monetization_json'),
    ...(fields.videoIds.length <= MAX_VIDEOS ? [] : [{ field: 'video_ids', message: `must be at most ${MAX_VIDEOS} videos` }]),
  ]
}

function checkWebUrl(field: string, url: string): FieldError[] {
  if (url === '') return []
  const problems = checkText(field, url, { max: 2_048 })
  if (problems.length > 0) return problems
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  return isWeb ? [] : [{ field, message: 'must be a URL that starts with http:// or https://' }]
}
