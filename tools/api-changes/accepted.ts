/** A breaking change that is accepted. */
export interface AcceptedChange {
  /** Name of the operation, such as `GET /video/{video_id}` or `event video.ready`. `*` is every operation. */
  operation: string
  /** Id of the change, which the check prints in brackets. */
  change: string
  /** Why clients do not depend on it, or why they must change. */
  reason: string
}

/** Accepted breaking changes since the last release. Empty the list after a release: the check rejects entries without a change. */
export const ACCEPTED: readonly AcceptedChange[] = []
