import { text } from '../language/text.ts'
import { asNumber, asObject, asText } from '../video/json-values.ts'

/** Fields of the public playlist record that the page uses. */
export interface PlaylistRecord {
  title: string
  randomise: boolean
  /** Number of entries that are played. 0 if all are played. */
  videoLimit: number
  openInPlaylistView: boolean
  entries: PlaylistEntry[]
}

/** Entry of a playlist. */
export interface PlaylistEntry {
  videoId: string
  title: string
  /** Address of the thumbnail. It is empty while there is no thumbnail. */
  thumbnail: string
  /** Duration in seconds. 0 if it is unknown. */
  duration: number
  /** If true, at least a part of the video can be played. */
  isPlayable: boolean
  hasFailed: boolean
  tokenRequired: boolean
}

/** Parses a server response. Missing values and values of another type are empty in the result. */
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
    title: asText(video['video_title']) || text('video'),
    thumbnail: asText(uri['thumbnail']),
    duration: asNumber(video['duration']),
    isPlayable: asText(uri['hls']) !== '' || Object.keys(asObject(uri['http'])).length > 0,
    hasFailed: asText(asObject(video['status'])['status']) === 'failed',
    tokenRequired: asObject(video['security'])['token_required_platform'] === true,
  }
}
