import type { Status } from '../media/status.ts'
import type { Scope } from '../visibility.ts'

/** Which videos, in what order. */
export interface VideoListing {
  scope: Scope
  /** By relevance only with a query: the best first. */
  order: 'create_time' | 'title' | 'relevance'
  descending: boolean
  state?: Status['state'] | undefined
  tag?: string | undefined
  folderId?: string | undefined
  /** Words that all must have. */
  query?: string | undefined
}

/** The place of a video in a list: values of what it is ordered by. */
export interface Key {
  videoId: string
  sort: Date | string
  /** Of a list by relevance, whose `sort` is the rank: among equals the newest come first. */
  createTime?: Date
}
