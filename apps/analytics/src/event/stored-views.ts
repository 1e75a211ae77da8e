import { isDomainError } from '@vitascope/errors'
import type { Db } from '@vitascope/postgres'
import { isId } from '@vitascope/request'

/** Checks which views are stored. */
export interface StoredViews {
  /** Returns the keys of the stored views. Returns an empty set while the database is unavailable. */
  findStored(views: readonly ViewIds[]): Promise<Set<string>>
}

/** The ids of a view as players send them. */
interface ViewIds {
  viewId: string
  videoId: string
}

export function storedViewKey({ viewId, videoId }: ViewIds): string {
  return `${viewId.toLowerCase()} ${videoId}`
}

/** Creates a check that runs one statement per call. It is only used for addresses that started too many views. */
export function createStoredViews(db: Db): StoredViews {
  return {
    async findStored(views) {
      const checkedViews = views.filter(({ videoId }) => isId(videoId))
      if (checkedViews.length === 0) return new Set()
      try {
        const rows = await db.query<{ view_id: string; video_id: string }>(
          `select view_id, video_id from unnest($1::uuid[], $2::bigint[]) as checked (view_id, video_id)
           where exists (select from view where view.view_id = checked.view_id and view.video_id = checked.video_id)`,
          [checkedViews.map(({ viewId }) => viewId), checkedViews.map(({ videoId }) => videoId)],
        )
        return new Set(rows.map((row) => storedViewKey({ viewId: row.view_id, videoId: row.video_id })))
      } catch (error) {
        if (isDomainError(error) && error.kind === 'unavailable') return new Set()
        throw error
      }
    },
  }
}
