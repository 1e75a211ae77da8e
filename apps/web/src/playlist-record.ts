import { asNumber, asObject, asText } from './json-values.ts'

/** Fields of the public playlist record that the page uses. */
export interface PlaylistRecord {
  title: string
  randomise: boolean
  /** Number of entries that are played; 0 for all. */
  videoLimit: number
  openInPlaylistView: boolean
  entries: PlaylistEntry[]
}

/** Entry of a playlist. */
export interface PlaylistEntry {
  videoId: string
  title: string
  /** Empty if there is none yet. */
  thumbnail: string
  /** Seconds; 0 if unknown. */
  duration: number
  /** True if at least a part of the video can be played. */
  isPlayable: boolean
  failed: boolean
  tokenRequired: boolean
}

/** Parses a server response. A missing value, or one of another type, reads as empty. */
export function readPlaylistRecord(json: unknown): PlaylistRecord {
  const record = asObject(json)
  const videos: unknown = record['videos']
  return {
    title: asText(record['title']),
    randomise: record['randomise'] === '1',
    videoLimit: asNumber(record['video_limit']),
    openInPlaylistView: record['open_in_playlist_view'] === '1',
    entries: Array.isArray(videos) ? videos.map(readEntry) : [],
  }
}

function readEntry(json: unknown): PlaylistEntry {
  const video = asObject(json)
  const uri = asObject(video['uri'])
  return {
    videoId: asText(video['video_id']),
    title: asText(video['video_title']) || 'Video',
    thumbnail: asText(uri['thumbnail']),
    duration: asNumber(video['duration']),
    isPlayable: asText(uri['hls']) !== '' || Object.keys(asObject(uri['http'])).length > 0,
    failed: asText(asObject(video['status'])['status']) === 'failed',
    tokenRequired: asObject(video['security'])['token_required_platform'] === true,
  }
}
