import type { Scope } from '@vitascope/principal'
import type { Status } from '../publishing/media/status.ts'

/** The filters and the order of a list of videos. */
export interface VideoQuery {
  scope: Scope
  /** `relevance` requires a query and sorts the best match first. */
  order: 'create_time' | 'title' | 'relevance'
  descending: boolean
  state?: Status['state'] | undefined
  tag?: string | undefined
  folderId?: string | undefined
  /** Words that a video must all contain. */
  query?: string | undefined
}

/** The position of a video in a list, as the values of the sort columns. */
export interface Key {
  videoId: string
  sort: Date | string
  /** Set only for `relevance`, where `sort` is the rank. Videos of equal rank are sorted by this time, newest first. */
  createTime?: Date
}
