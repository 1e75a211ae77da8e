import { DomainError } from '@vitascope/errors'

export const MOST_VIDEOS = 25

/** What people change of a playlist. */
export interface PlaylistFields {
  playlistType: string
  title: string
  description: string
  monetizationUrl: string
  randomise: boolean
  /** 0 for all. */
  videoLimit: number
  openInPlaylistView: boolean
  settings: string
  monetizationJson: string
  videoIds: readonly string[]
}

export interface Playlist extends PlaylistFields {
  playlistId: string
  organisationId: string
  /** True when address rules bind one of its videos. */
  ipRestricted: boolean
  createdByUserId: string
  createTime: Date
  updateTime: Date
}

export function plainPlaylist(title: string, description: string): PlaylistFields {
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

/** The end of the list is the only place; the same video may be there more than once. */
export function append<Fields extends PlaylistFields>(playlist: Fields, videoId: string): Fields {
  if (playlist.videoIds.length >= MOST_VIDEOS) {
    throw new DomainError('refused', 'PLAYLIST_FULL', `a playlist holds at most ${MOST_VIDEOS} videos`)
  }
  return { ...playlist, videoIds: [...playlist.videoIds, videoId] }
}

/** Without the video, or without its occurrence at one place (from 0). What is not there is not removed. */
export function take<Fields extends PlaylistFields>(playlist: Fields, videoId: string, position?: number): Fields {
  const goes = (id: string, place: number) => id === videoId && (position === undefined || place === position)
  return { ...playlist, videoIds: playlist.videoIds.filter((id, place) => !goes(id, place)) }
}
