/** A breaking change that was decided. */
export interface AcceptedChange {
  /** Name of the operation, such as `GET /video/{video_id}` or `event video.ready`. `*` is every operation. */
  operation: string
  /** Id of the change, which the check prints in brackets. */
  change: string
  /** Why clients do not depend on it, or why they must change. */
  reason: string
}

/** Breaking changes since the last release that are accepted. The release empties the list. */
export const ACCEPTED: readonly AcceptedChange[] = []
