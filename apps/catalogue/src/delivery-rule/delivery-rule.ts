/** Who may have the files of a video, and where they are. */
export interface DeliveryRule {
  /** The current set first. */
  sets: { version: string; prefix: string }[]
  tokenRequired: boolean
  allowedIps: string[]
  expireTime: Date | undefined
}

export interface DeliveryRuleStore {
  /** Undefined for a video that nobody may have: disabled, expired, deleted, of an inactive organisation, or without files. */
  find(videoId: string, signal?: AbortSignal): Promise<DeliveryRule | undefined>
  /** Forgets sets whose time is over. */
  sweep(): Promise<void>
}
