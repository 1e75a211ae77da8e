import { stat, statfs } from 'node:fs/promises'
import { untilAborted } from '../common/until-aborted.ts'
import type { StoredSource } from '../task/task.ts'
import type { WorkerConfig } from './config.ts'

/** The maximum scratch space of a task. */
export interface ScratchNeeds {
  /** Bytes that the task writes. */
  bytes: number
  /** The source that it reads. All readers of a source share one file. */
  source?: StoredSource
}

/**
 * The space of the scratch folder that a worker's tasks share. If the folder exceeds its limit, the
 * cluster evicts the worker with all of its tasks.
 */
export interface DiskBudget {
  /**
   * Reserves all space of a task. Calls are served in their order. Resolves with the function that
   * releases the space. `onWait` runs before a wait, and releases cached sources for which other
   * tasks may wait.
   * Throws `ScratchTooSmall` if the needs exceed the budget.
   */
  reserve(needs: ScratchNeeds, onWait: () => Promise<void>, signal: AbortSignal): Promise<() => void>
  /**
   * Keeps the space of a source reserved after the task that reserved it ends. Returns the function
   * that releases it.
   */
  holdSource(source: StoredSource): () => void
}

/** Creates a disk budget. `measure` returns how many more bytes the folder may hold. */
export function createDiskBudget(measure: () => Promise<number>): DiskBudget {
  const reservations = new Set<ScratchNeeds>()
  let size = 0
  let queue = Promise.resolve()
  let queued = 0
  let freed = Promise.withResolvers<void>()
  const add = (reservation: ScratchNeeds) => {
    reservations.add(reservation)
    return () => {
      reservations.delete(reservation)
      freed.resolve()
      freed = Promise.withResolvers()
    }
  }
  /** Tries to reserve, for the first task in the queue. */
  const tryReserve = async (needs: ScratchNeeds) => {
    const needed = sumBytes([needs])
    if (reservations.size === 0) size = await measure()
    // The disk may have more free space by now. Bytes that are already written are counted twice,
    // which is harmless.
    else if (needed > size) size = Math.max(size, await measure())
    if (needed > size) throw new ScratchTooSmall(needed, size)
    return sumBytes([...reservations, needs]) > size ? undefined : add({ ...needs })
  }

  return {
    async reserve(needs, onWait, signal) {
      const before = queue
      const { promise, resolve: leave } = Promise.withResolvers<void>()
      queue = before.then(() => promise)
      const isFirst = queued++ === 0
      try {
        if (isFirst) {
          const reservation = await tryReserve(needs)
          if (reservation) return reservation
        }
        await onWait()
        await untilAborted(before, signal)
        for (;;) {
          // The promise is read before the check, so that no release is missed.
          const change = freed.promise
          const reservation = await tryReserve(needs)
          if (reservation) return reservation
          await untilAborted(change, signal)
        }
      } finally {
        queued--
        leave()
      }
    },
    holdSource: (source) => add({ bytes: 0, source }),
  }
}

/** Returns the total bytes. A source that several tasks read counts once. */
function sumBytes(reservations: readonly ScratchNeeds[]): number {
  const sources = new Map(reservations.flatMap(({ source }) => (source ? [[source.object, source.bytes] as const] : [])))
  return [...reservations.map(({ bytes }) => bytes), ...sources.values()].reduce((sum, bytes) => sum + bytes, 0)
}

export class ScratchTooSmall extends Error {
  constructor(needed: number, size: number) {
    super(
      `a task needs ${formatBytes(needed)} of scratch space, but this worker has ${formatBytes(size)}: raise VITASCOPE_SCRATCH_BYTES ` +
        '(worker.scratch.size of the chart), or free the disk of VITASCOPE_SCRATCH_DIR',
    )
    this.name = 'ScratchTooSmall'
  }
}

function formatBytes(bytes: number): string {
  return bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)} GiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`
}

/**
 * Returns the scratch size allowed by the settings and the disk. If scratch and objects share a
 * disk, only the settings apply: a source is then a hard link to its object, and results become
 * objects.
 */
export async function scratchSize({ scratchDir, scratchBytes, scratchSparePercent = 0, objects }: WorkerConfig): Promise<number> {
  const allowed = scratchBytes ?? Number.POSITIVE_INFINITY
  const sharesDiskWithObjects = 'folder' in objects && (await stat(objects.folder)).dev === (await stat(scratchDir)).dev
  if (sharesDiskWithObjects) return allowed
  const { bavail, blocks, bsize } = await statfs(scratchDir)
  // At most half of the free space is spared, so that small tasks still fit on a nearly full disk.
  const reservedBlocks = Math.min((blocks * scratchSparePercent) / 100, bavail / 2)
  return Math.min(allowed, (bavail - reservedBlocks) * bsize)
}
