import { DomainError } from '@vitascope/errors'

export const MAX_VIDEOS = 25

/** The fields of a playlist that users set. */
export interface PlaylistFields {
  playlistType: string
  title: string
  description: string
  monetizationUrl: string
  randomise: boolean
  /** Number of videos that play. 0 means all videos. */
  videoLimit: number
  openInPlaylistView: boolean
  settings: string
  monetizationJson: string
  videoIds: readonly string[]
}

export interface Playlist extends PlaylistFields {
  playlistId: string
  organisationId: string
  /** True if an IP allowlist restricts one of its videos. */
  ipRestricted: boolean
  createdByUserId: string
  createTime: Date
  updateTime: Date
}

export function createDefaultFields(title: string, description: string): PlaylistFields {
  return {
    playlistType: 'standard',
    title,
    description,
    monetizationUrl: '',
    randomise: false,
    videoLimit: 0,
    openInPlaylistView: false,
    settings: '',
    monetizationJson: '',
    videoIds: [],
  }
}

/** Returns the playlist with the video appended. The same video may occur more than once. Throws PLAYLIST_FULL. */
export function appendVideo<Fields extends PlaylistFields>(playlist: Fields, videoId: string): Fields {
  if (playlist.videoIds.length >= MAX_VIDEOS) {
    throw new DomainError('failed_precondition', 'PLAYLIST_FULL', `a playlist contains at most ${MAX_VIDEOS} videos`)
  }
  return { ...playlist, videoIds: [...playlist.videoIds, videoId] }
}

/**
 * Returns the playlist without the video, or without its occurrence at one position (from 0). Does
 * nothing if there is no such occurrence.
 */
export function removeVideo<Fields extends PlaylistFields>(playlist: Fields, videoId: string, position?: number): Fields {
  const isRemoved = (id: string, index: number) => id === videoId && (position === undefined || index === position)
  return { ...playlist, videoIds: playlist.videoIds.filter((id, index) => !isRemoved(id, index)) }
}
