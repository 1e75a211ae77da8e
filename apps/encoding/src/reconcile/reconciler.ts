import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@vitascope/grpc'
import { type Db, findOpenFailover } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import type { JobCommands } from '../engine/accept-job.ts'
import type { EndTools } from '../engine/end-job.ts'
import type { TaskSteps } from '../engine/task-steps.ts'
import { toJobId } from '../job/job.ts'
import { sweepObjects } from '../objects/sweep-objects.ts'
import { ageLowPriorityJobs } from './age-jobs.ts'
import { restartStuckJobs } from './stuck-jobs.ts'
import { removeUnneededJobs } from './unneeded-jobs.ts'

export interface ReconcileTools extends EndTools {
  db: Db
  steps: TaskSteps
  jobCommands: JobCommands
  jobs: Client<typeof JobServiceService>
  storage: ObjectStorage
  log: Logger
  intervalMs: number
  lowPriorityMaxWaitSeconds: number
}

export interface Reconciler {
  start(): void
  stop(): Promise<void>
}

const LEASES_PER_PASS = 100
/** Unneeded objects are removed after two passes with the same result. */
const UNNEEDED_GRACE_PASSES = 2

/**
 * Checks periodically for expired leases, jobs without work, and jobs and objects that are no
 * longer needed.
 */
export function createReconciler(tools: ReconcileTools): Reconciler {
  const { log, intervalMs } = tools
  const stopping = new AbortController()
  let running = Promise.resolve()
  /**
   * Time of the last successful query. After an outage, workers have one pass to renew their
   * leases, because their renewals failed too.
   */
  let lastContact = Number.NEGATIVE_INFINITY

  const runStep = async (step: string, run: () => Promise<void>) => {
    try {
      await run()
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ err: error }, `reconciling failed: ${step}`)
    }
  }
  const pass = async () => {
    const hadContact = performance.now() - lastContact < 3 * intervalMs
    await runStep('leases', async () => {
      const expired = await tools.queue.expired(LEASES_PER_PASS)
      lastContact = performance.now()
      if (!hadContact) return
      // The holder may have completed or released the item in a lost transaction, so the expiry is
      // not counted for the job.
      const hasOpenFailover = expired.length > 0 && (await findOpenFailover(tools.db.query)) !== undefined
      for (const lease of expired) {
        if (hasOpenFailover) {
          await tools.steps.release(lease)
          continue
        }
        const hasEnded = await tools.steps.fault(lease, { code: 5001, message: 'the worker stopped responding' }, { onlyExpired: true })
        if (hasEnded)
          log.warn(
            { task_id: lease.itemId, kind: lease.kind, job_id: toJobId(lease.key), worker_id: lease.holder },
            'lease expired; its attempt ended',
          )
      }
    })
    await runStep('jobs without work', async () => {
      for (const jobId of await restartStuckJobs(tools))
        log.error({ job_id: jobId }, 'job had no tasks; restarted, or failed after its last attempt')
    })
    await runStep('jobs of low priority', async () => {
      for (const jobId of await ageLowPriorityJobs(tools, tools.lowPriorityMaxWaitSeconds))
        log.info({ job_id: jobId }, 'low-priority job waited too long; raised to normal priority')
    })
    await runStep('unneeded jobs', async () => {
      const dropped = await removeUnneededJobs({ ...tools, graceMs: UNNEEDED_GRACE_PASSES * intervalMs }, stopping.signal)
      for (const jobId of dropped) log.info({ job_id: jobId }, 'job no longer needed; removed')
    })
    await runStep('objects', () => sweepObjects({ ...tools, timeLimitMs: intervalMs }, stopping.signal))
    // A pass with many deletions may take longer than the interval.
    if (await tools.db.ping()) lastContact = performance.now()
  }

  return {
    start() {
      running = (async () => {
        while (!stopping.signal.aborted) {
          await pass()
          await delay(intervalMs, undefined, { signal: stopping.signal }).catch(() => {})
        }
      })()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
