import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@vitascope/grpc'
import { type Db, type Outbox, openFailover } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import type { Queue } from '@vitascope/queue'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { sweepRuns } from '../executor/run-store.ts'
import type { JobDesk } from '../job/accept-job.ts'
import { sweepObjects } from '../objects/sweep-objects.ts'
import type { TaskSteps } from '../work/task-steps.ts'
import { sweepWorkers } from '../work/worker-store.ts'
import { restartStuckJobs } from './stuck-jobs.ts'
import { dropUnwantedJobs } from './unwanted-jobs.ts'

export interface ReconcileTools {
  db: Db
  queue: Queue
  outbox: Outbox
  steps: TaskSteps
  desk: JobDesk
  jobs: Client<typeof JobServiceService>
  storage: ObjectStorage
  log: Logger
  intervalMs: number
}

export interface Reconciler {
  start(): void
  stop(): Promise<void>
}

const RESCUES_A_PASS = 100
/** Unwanted things go after two passes that agree. */
const UNWANTED_PASSES = 2

/** Looks again and again for what should not be: leases that ran out, jobs without work, jobs and objects that nobody wants. */
export function createReconciler(tools: ReconcileTools): Reconciler {
  const { log, intervalMs } = tools
  const stopping = new AbortController()
  let running = Promise.resolve()
  /** When the last pass reached the database: after a time without, workers could not renew their leases either, and get one pass to do so. */
  let lastReached = Number.NEGATIVE_INFINITY

  const part = async (what: string, run: () => Promise<void>) => {
    try {
      await run()
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ err: error }, `reconciling failed: ${what}`)
    }
  }
  const pass = async () => {
    const isSteady = performance.now() - lastReached < 3 * intervalMs
    await part('leases', async () => {
      const expired = await tools.queue.expired(RESCUES_A_PASS)
      lastReached = performance.now()
      if (!isSteady) return
      // Held by somebody who finished it, or gave it back, in a time that was lost: no fault of the job's.
      const isUncounted = expired.length > 0 && (await openFailover(tools.db.query)) !== undefined
      for (const held of expired) {
        if (isUncounted) {
          await tools.steps.release(held)
          continue
        }
        const rescued = await tools.steps.fault(held, { code: 5001, message: 'the worker was lost' }, { onlyExpired: true })
        if (rescued)
          log.warn({ task: held.itemId, kind: held.kind, job: held.key, holder: held.holder }, 'a lease ran out: its task is tried again')
      }
    })
    await part('jobs without work', async () => {
      for (const jobId of await restartStuckJobs(tools)) log.error({ job: jobId }, 'a job had no work: it begins again')
    })
    await part('unwanted jobs', async () => {
      const dropped = await dropUnwantedJobs({ ...tools, graceMs: UNWANTED_PASSES * intervalMs }, stopping.signal)
      for (const jobId of dropped) log.info({ job: jobId }, 'a job is not wanted any more')
    })
    await part('objects', () => sweepObjects({ ...tools, forMs: intervalMs }, stopping.signal))
    await part('old rows', async () => {
      await tools.queue.sweep()
      await sweepWorkers(tools.db.query)
      await sweepRuns(tools.db.query)
      // A pass may take long by itself, for all that there is to remove.
      lastReached = performance.now()
    })
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
