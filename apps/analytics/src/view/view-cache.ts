import type { ViewBatch } from './view-batch.ts'

/**
 * Cache of the views of recently inserted batches, by batch number. If this process merges them, it
 * does not have to read their events again. The cache is bounded and optional: all data is in the
 * database. After a failover a batch number can be reused for events of another process, and the
 * earlier events are lost. Therefore entries are only valid for their writer.
 */
export interface ViewCache {
  keep(batchId: string, batch: readonly ViewBatch[]): void
  /**
   * Returns and removes the views of a batch. Returns undefined if another process inserted the
   * batch, or a release that stored no writer (null).
   */
  take(batchId: string, writer: string | null): readonly ViewBatch[] | undefined
}

/** One or two seconds at the highest rate, about 40 MB. */
const MAX_VIEWS = 40_000
/** Batches are usually merged long before. Some are merged before they are cached, and some by another replica. */
const TTL_MS = 10_000

export interface ViewCacheOptions {
  /** The UUID of this process, which is stored with its inserts. */
  writer: string
  /** Maximum number of views. */
  max?: number
  now?: () => number
}

export function createViewCache({ writer: own, max = MAX_VIEWS, now = Date.now }: ViewCacheOptions): ViewCache {
  const entries = new Map<string, { batch: readonly ViewBatch[]; views: number; since: number }>()
  let count = 0
  const remove = (batchId: string) => {
    const found = entries.get(batchId)
    entries.delete(batchId)
    count -= found?.views ?? 0
    return found
  }
  return {
    keep(batchId, batch) {
      remove(batchId)
      const views = batch.reduce((sum, one) => sum + one.views.size, 0)
      entries.set(batchId, { batch, views, since: now() })
      count += views
      // A Map iterates in insertion order, so the oldest entries come first.
      for (const [oldest, { since }] of entries) {
        if (count <= max && now() - since < TTL_MS) break
        remove(oldest)
      }
    },
    take(batchId, writer) {
      const found = remove(batchId)
      return found && writer === own && now() - found.since < TTL_MS ? found.batch : undefined
    },
  }
}
