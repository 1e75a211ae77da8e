import { setTimeout as delay } from 'node:timers/promises'
import type { V1Job } from '@kubernetes/client-node'
import type { Logger } from '@vitascope/telemetry'
import type { JobApi } from './job-api.ts'

/** What the cluster was last heard to have. */
export interface JobWatch {
  /** By name; undefined until the first answer. They may be behind, as whoever acts on them has to reckon with. */
  jobs(): ReadonlyMap<string, V1Job> | undefined
  /** Lists and watches, until the signal. */
  run(signal: AbortSignal): Promise<void>
}

const LONGEST_PAUSE_MS = 15_000

/**
 * Lists all Jobs, then watches them; whatever ends the watch, all are listed again: so a watch that was cut, a version that is too old, and a
 * server that was away are one and the same case, and nothing that changed meanwhile is missed.
 */
export function watchJobs(api: JobApi, onChange: () => void, log: Logger): JobWatch {
  let known: Map<string, V1Job> | undefined
  const once = async (signal: AbortSignal, onListed: () => void) => {
    const { jobs, resourceVersion } = await api.list()
    const listed = new Map(jobs.map((job) => [nameOf(job), job]))
    known = listed
    onListed()
    onChange()
    await api.watch(
      resourceVersion,
      ({ isGone, job }) => {
        if (isGone) listed.delete(nameOf(job))
        else listed.set(nameOf(job), job)
        onChange()
      },
      signal,
    )
  }
  return {
    jobs: () => known,
    async run(signal) {
      for (let failures = 0; !signal.aborted; ) {
        try {
          await once(signal, () => {
            if (failures >= 3) log.info('the Jobs of the cluster are watched again')
            failures = 0
          })
        } catch (error) {
          if (signal.aborted) return
          failures++
          log[failures === 3 ? 'warn' : 'debug']({ err: error }, 'the Jobs of the cluster cannot be watched: trying again')
        }
        // Also after a watch that the server ended: one that ends each at once must not make this a busy loop.
        const pause = Math.min(LONGEST_PAUSE_MS, 50 * 2 ** failures) * (0.5 + Math.random() / 2)
        await delay(pause, undefined, { signal }).catch(() => {})
      }
    },
  }
}

function nameOf({ metadata }: V1Job): string {
  return metadata?.name ?? ''
}
