import type { Gathered } from '../view/gathered.ts'

/**
 * What events that this process wrote just now say of their views, by the number of their insert: when it is the one that merges them, it need not read
 * them again. Bounded, and never needed: what is not here is in the database. After a failover a number may come again for the events of another process,
 * and those that had it are lost: so it is asked by whom the insert is that is in the database.
 */
export interface RecentViews {
  keep(batchId: string, gathered: readonly Gathered[]): void
  /** Forgets them, too. Undefined also where another process wrote the insert of that number, or a release that told nobody (null). */
  take(batchId: string, writer: string | null): readonly Gathered[] | undefined
}

/** Of a second or two at the highest rate, in some 40 MB. */
const MOST = 40_000
/** Whoever merges has done so long before; some are merged before they are kept here, and some by another replica. */
const KEPT_MS = 10_000

export interface RecentViewsOptions {
  /** The UUID of this process that stands beside its inserts. */
  writer: string
  /** Views at most. */
  most?: number
  now?: () => number
}

export function createRecentViews({ writer: own, most = MOST, now = Date.now }: RecentViewsOptions): RecentViews {
  const kept = new Map<string, { gathered: readonly Gathered[]; views: number; since: number }>()
  let count = 0
  const forget = (batchId: string) => {
    const found = kept.get(batchId)
    kept.delete(batchId)
    count -= found?.views ?? 0
    return found
  }
  return {
    keep(batchId, gathered) {
      forget(batchId)
      const views = gathered.reduce((sum, one) => sum + one.views.size, 0)
      kept.set(batchId, { gathered, views, since: now() })
      count += views
      // The oldest first: a Map keeps the order.
      for (const [oldest, { since }] of kept) {
        if (count <= most && now() - since < KEPT_MS) break
        forget(oldest)
      }
    },
    take(batchId, writer) {
      const found = forget(batchId)
      return found && writer === own && now() - found.since < KEPT_MS ? found.gathered : undefined
    },
  }
}
