import type { NamedCaption } from '../caption/shown-caption.ts'

/** Who may have the files of a video, and where they are. */
export interface DeliveryRule {
  /** The current set first. */
  sets: { version: string; prefix: string }[]
  tokenRequired: boolean
  allowedIps: string[]
  expireTime: Date | undefined
  /** The file of a set that players open first; empty for none. */
  masterPath: string
  /** Of the current set; 0 if unknown. */
  durationSeconds: number
  /** Renditions that were added to one of the sets, oldest first. */
  added: { jobId: string; prefix: string; setPrefix: string }[]
  captions: (NamedCaption & { revision: number })[]
}

export interface DeliveryRuleStore {
  /** Undefined for a video that nobody may have: disabled, expired, deleted, of an inactive organisation, or without files. */
  find(videoId: string, signal?: AbortSignal): Promise<DeliveryRule | undefined>
  /** Forgets sets whose time is over. */
  sweep(): Promise<void>
}
