import type { NamedCaption } from '../caption/shown-caption.ts'

/** The access rules of a video's files, and their locations. */
export interface PlaybackPolicy {
  /** The sets of files; the current set is first. */
  sets: { version: string; prefix: string }[]
  tokenRequired: boolean
  allowedIps: string[]
  expireTime: Date | undefined
  /** Path of the set's file that players open first; empty if there is none. */
  masterPath: string
  /** Duration of the current set; 0 if unknown. */
  durationSeconds: number
  /** Renditions that were added to one of the sets, oldest first. */
  added: { jobId: string; prefix: string; setPrefix: string }[]
  captions: (NamedCaption & { revision: number })[]
}

export interface PlaybackPolicyStore {
  /**
   * Returns undefined if the video cannot be played: disabled, expired, deleted, of an inactive
   * organisation, or without files.
   */
  find(videoId: string, signal?: AbortSignal): Promise<PlaybackPolicy | undefined>
  /** Removes up to `limit` expired sets and returns their number. */
  sweep(limit: number): Promise<number>
}
