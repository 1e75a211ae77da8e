import { isDomainError } from '@vitascope/errors'
import type { Db } from '@vitascope/postgres'
import { isId } from '@vitascope/request'

/** Checks which views are stored. */
export interface StoredViews {
  /** Returns the keys of the views that are stored; an empty set while the database is unavailable. */
  stored(views: readonly ViewIds[]): Promise<Set<string>>
}

/** The ids of a view as players send them. */
interface ViewIds {
  viewId: string
  videoId: string
}

export function storedViewKey({ viewId, videoId }: ViewIds): string {
  return `${viewId.toLowerCase()} ${videoId}`
}

/**
 * Each call runs one statement. Callers check a view only if its client address has started too many views.
 */
export function createStoredViews(db: Db): StoredViews {
  return {
    async stored(views) {
      const wanted = views.filter(({ videoId }) => isId(videoId))
      if (wanted.length === 0) return new Set()
      try {
        const rows = await db.query<{ view_id: string; video_id: string }>(
          `select view_id, video_id from unnest($1::uuid[], $2::bigint[]) as wanted (view_id, video_id)
           where exists (select from view where view.view_id = wanted.view_id and view.video_id = wanted.video_id)`,
          [wanted.map(({ viewId }) => viewId), wanted.map(({ videoId }) => videoId)],
        )
        return new Set(rows.map((row) => storedViewKey({ viewId: row.view_id, videoId: row.video_id })))
      } catch (error) {
        if (isDomainError(error) && error.kind === 'unavailable') return new Set()
        throw error
      }
    },
  }
}
