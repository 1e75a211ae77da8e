import type { PlaybackKey } from '@vitascope/playback-policy'
import type { PlaybackRule } from '@vitascope/proto/catalogue/v1/playback_rules'
import type { NamedCaption } from '../caption/shown-caption.ts'

/** The access rules of a video's files, and their locations. */
export interface PlaybackPolicy {
  organisationId: string
  /** The sets of files. The first one is the current set. */
  sets: { version: string; prefix: string }[]
  tokenRequired: boolean
  /** True if only the organisation sees the video. Its files require a token. */
  isPrivate: boolean
  /** Maximum number of active sessions with one token; 0 for no limit. */
  maxSessions: number
  /** True if the player settings profile of the video has a password. */
  passwordRequired: boolean
  allowedIps: string[]
  expireTime: Date | undefined
  /** Path of the HLS master playlist in a set. Empty if the set has none. */
  masterPath: string
  /** Duration of the current set. 0 if it is unknown. */
  durationSeconds: number
  /** Height in pixels of the lowest rendition of the current set; undefined without a picture. */
  lowestHeight: number | undefined
  /** Images of the picture that was set for the video. */
  poster: { jobId: string; prefix: string } | undefined
  /** Renditions that were added to one of the sets, oldest first. */
  added: { jobId: string; prefix: string; setPrefix: string }[]
  videoRules: PlaybackRule[]
  organisationRules: PlaybackRule[]
  /** True if requests that no rule decides are denied. */
  deniesByDefault: boolean
  /** Active keys of the organisation, which verify tokens. */
  keys: PlaybackKey[]
  captions: (NamedCaption & { revision: number })[]
}

export interface PlaybackPolicyStore {
  /**
   * Returns the policy of a video. Returns undefined if the video is disabled, expired or deleted, if it
   * has no files, or if its organisation is inactive.
   */
  find(videoId: string, signal?: AbortSignal): Promise<PlaybackPolicy | undefined>
  /** Like `find`, also for an expired video. */
  findIncludingExpired(videoId: string, signal?: AbortSignal): Promise<PlaybackPolicy | undefined>
  /** Removes up to `limit` expired sets and returns their number. */
  sweep(limit: number): Promise<number>
}
