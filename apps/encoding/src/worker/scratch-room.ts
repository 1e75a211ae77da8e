import { stat, statfs } from 'node:fs/promises'
import type { StoredSource } from '../job/job.ts'
import type { WorkerConfig } from './config.ts'
import { untilAborted } from './until-aborted.ts'

/** What a task takes of the scratch folder, at most. */
export interface ScratchNeeds {
  /** Of what it makes there. */
  bytes: number
  /** What it reads: it lies there once, for all who read it. */
  source?: StoredSource
}

/** The scratch folder that a worker's tasks share. Past its bounds a cluster ends the worker, and with it the tasks that took no part in it. */
export interface ScratchRoom {
  /**
   * Takes all that a task needs at once, as soon as it is free and nobody asked before; answers how to give it back. Who has to wait is told first,
   * by `onWait`, to let go of what others may wait for. Throws `ScratchTooSmall` for what does not fit into all of it.
   */
  take(needs: ScratchNeeds, onWait: () => Promise<void>, signal: AbortSignal): Promise<() => void>
  /** One more holder of a source that a task has taken room for. */
  keep(source: StoredSource): () => void
}

/** `measure` tells how many bytes more the folder may have. */
export function createScratchRoom(measure: () => Promise<number>): ScratchRoom {
  const places = new Set<ScratchNeeds>()
  let size = 0
  let line = Promise.resolve()
  let inLine = 0
  let freed = Promise.withResolvers<void>()
  const put = (place: ScratchNeeds) => {
    places.add(place)
    return () => {
      places.delete(place)
      freed.resolve()
      freed = Promise.withResolvers()
    }
  }
  /** For the first in the line. */
  const atOnce = async (needs: ScratchNeeds) => {
    const wanted = bytesOf([needs])
    if (places.size === 0) size = await measure()
    // The disk may have become emptier since; what lies there by now is counted twice, which does no harm.
    else if (wanted > size) size = Math.max(size, await measure())
    if (wanted > size) throw new ScratchTooSmall(wanted, size)
    return bytesOf([...places, needs]) > size ? undefined : put({ ...needs })
  }

  return {
    async take(needs, onWait, signal) {
      const before = line
      const { promise, resolve: leave } = Promise.withResolvers<void>()
      line = before.then(() => promise)
      const isFirst = inLine++ === 0
      try {
        if (isFirst) {
          const place = await atOnce(needs)
          if (place) return place
        }
        await onWait()
        await untilAborted(before, signal)
        for (;;) {
          // Asked for before the look, so that nothing is missed that becomes free meanwhile.
          const change = freed.promise
          const place = await atOnce(needs)
          if (place) return place
          await untilAborted(change, signal)
        }
      } finally {
        inLine--
        leave()
      }
    },
    keep: (source) => put({ bytes: 0, source }),
  }
}

/** A source counts once, whoever reads it. */
function bytesOf(places: readonly ScratchNeeds[]): number {
  const sources = new Map(places.flatMap(({ source }) => (source ? [[source.object, source.bytes] as const] : [])))
  return [...places.map(({ bytes }) => bytes), ...sources.values()].reduce((sum, bytes) => sum + bytes, 0)
}

export class ScratchTooSmall extends Error {
  constructor(wanted: number, size: number) {
    super(
      `a task needs ${readable(wanted)} of scratch, and this worker has ${readable(size)}: raise VITASCOPE_SCRATCH_BYTES ` +
        '(worker.scratch.size of the chart), or free the disk of VITASCOPE_SCRATCH_DIR',
    )
    this.name = 'ScratchTooSmall'
  }
}

function readable(bytes: number): string {
  return bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)} GiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`
}

/**
 * What the settings allow and the disk can spare. On the disk of the objects they alone count: there a source is a second name of its object, and what
 * is made becomes one.
 */
export async function scratchSize({ scratchDir, scratchBytes, scratchSparePercent = 0, objects }: WorkerConfig): Promise<number> {
  const allowed = scratchBytes ?? Number.POSITIVE_INFINITY
  const isOfObjects = 'folder' in objects && (await stat(objects.folder)).dev === (await stat(scratchDir)).dev
  if (isOfObjects) return allowed
  const { bavail, blocks, bsize } = await statfs(scratchDir)
  // A disk that is nearly full still has room for what is small.
  const spare = Math.min((blocks * scratchSparePercent) / 100, bavail / 2)
  return Math.min(allowed, (bavail - spare) * bsize)
}
