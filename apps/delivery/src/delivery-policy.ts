import type { PlaybackKey, PlaybackPolicy } from '@vitascope/playback-policy'
import type { AddedRendition, PosterLocation } from './added/added-renditions.ts'
import type { CaptionSettings } from './captions/hls-captions.ts'

/** Who may load the files of a video or presentation, and where the files are. */
export interface DeliveryPolicy {
  /** Organisation of the video; empty for a presentation. */
  organisationId: string
  /** The video whose tokens grant access; empty if there is none. */
  videoId: string
  /** For a video: the current version first, then earlier versions that are still served to running players. */
  sets: readonly { version: string; prefix: string }[]
  rules: PlaybackPolicy
  /** Active keys of the organisation, which verify tokens. */
  keys: readonly PlaybackKey[]
  /** Maximum number of active sessions with one token; 0 for no limit. */
  maxSessions: number
  /** True if the rules admit everyone, so that shared caches may keep the files. */
  isOpen: boolean
  captions: CaptionSettings
  /** Renditions that were added to one of the sets. */
  added: readonly AddedRendition[]
  /** Undefined if no picture was set for the video. */
  poster: PosterLocation | undefined
}
