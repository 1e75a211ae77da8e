import { setTimeout as delay } from 'node:timers/promises'
import type { V1Job } from '@kubernetes/client-node'
import { backoffMs } from '@vitascope/concurrency'
import type { Logger } from '@vitascope/telemetry'
import type { JobsClient } from './jobs-client.ts'

/** The last known state of the cluster. */
export interface JobWatch {
  /**
   * Jobs by name, or undefined until the first response. The state may be outdated, so actions on
   * it must tolerate that.
   */
  jobs(): ReadonlyMap<string, V1Job> | undefined
  /** Lists and watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

const MAX_PAUSE_MS = 15_000

/**
 * Lists all Jobs, then watches them. Whenever the watch ends, all Jobs are listed again. So an
 * interrupted watch, an expired resource version and an unavailable server are handled alike, and
 * no change is missed.
 */
export function watchJobs(api: JobsClient, onChange: () => void, log: Logger): JobWatch {
  let current: Map<string, V1Job> | undefined
  const listAndWatch = async (signal: AbortSignal, onListed: () => void) => {
    const { jobs, resourceVersion } = await api.list()
    const byName = new Map(jobs.map((job) => [readName(job), job]))
    current = byName
    onListed()
    onChange()
    await api.watch(
      resourceVersion,
      ({ isDeleted, job }) => {
        if (isDeleted) byName.delete(readName(job))
        else byName.set(readName(job), job)
        onChange()
      },
      signal,
    )
  }
  return {
    jobs: () => current,
    async run(signal) {
      for (let failures = 0; !signal.aborted; ) {
        try {
          await listAndWatch(signal, () => {
            if (failures >= 3) log.info('watch of Kubernetes Jobs restored')
            failures = 0
          })
        } catch (error) {
          if (signal.aborted) return
          failures++
          log[failures === 3 ? 'warn' : 'debug']({ err: error }, 'watching Kubernetes Jobs failed; retrying')
        }
        // The pause also follows a regular end of the watch. Otherwise a server that ends each
        // watch at once would cause a busy loop.
        await delay(backoffMs(failures, { minMs: 100, maxMs: MAX_PAUSE_MS }), undefined, { signal }).catch(() => {})
      }
    },
  }
}

function readName({ metadata }: V1Job): string {
  return metadata?.name ?? ''
}
