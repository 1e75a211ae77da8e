import type { Db } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { readQueuedWork } from './queued-work.ts'

type Gauge = ReturnType<Metrics['gauge']>

/**
 * Registers metrics of the queue depth and of the planned work. They are read from the database at
 * each scrape. If the database is unavailable, they keep their last values, and the other metrics
 * are still served.
 */
export function observeJobs(metrics: Metrics, db: Db, queue: Queue, log: Logger): void {
  const logFailures = (read: (gauge: Gauge) => Promise<void>) => (gauge: Gauge) =>
    read(gauge).catch((error: unknown) => log.warn({ err: error }, 'reading job metrics failed'))
  metrics.gauge(
    'vitascope_encoding_queue_depth',
    'Tasks, by kind and state (waiting, leased)',
    ['kind', 'state'],
    logFailures(async (gauge) => {
      const depth = await queue.depth()
      gauge.reset()
      for (const { kind, waiting, leased } of depth) {
        gauge.set({ kind, state: 'waiting' }, waiting)
        gauge.set({ kind, state: 'leased' }, leased)
      }
    }),
  )
  metrics.gauge(
    'vitascope_encoding_queue_work_seconds',
    'Expected CPU seconds of waiting and leased tasks of workers, by kind; source: estimate for jobs whose source is not probed yet',
    ['kind'],
    logFailures(async (gauge) => {
      for (const [kind, seconds] of Object.entries(await readQueuedWork(db.query, queue))) gauge.set({ kind }, seconds)
    }),
  )
  metrics.gauge(
    'vitascope_encoding_queue_cpu_seconds',
    'Expected CPU seconds of the planned active jobs',
    [],
    logFailures(async (gauge) => {
      const [row] = await db.query<{ seconds: number | null }>(
        `select sum((plan->>'expectedCpuSeconds')::float8) as seconds from job where state in ('encoding', 'publishing')`,
      )
      gauge.set(row?.seconds ?? 0)
    }),
  )
}

/** Upper bounds of the histogram's buckets, in minutes. */
const BUCKET_MINUTES = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 180, 720]
/**
 * The outcomes of a job: `ok`, `cancelled`, or the code of the failure
 * (docs/reference/error-codes.md).
 */
const OUTCOMES = ['ok', 'cancelled', ...[4001, 4002, 4003, 4004, 5000, 5001, 5002, 5003, 5004, 5005, 5006, 5007].map(String)]

/**
 * Registers the durations of jobs by outcome, and returns a function that records the end of a job.
 */
export function observeJobEnds(metrics: Metrics): (job: { createTime: Date }, end: { state: string; code?: number }) => void {
  const duration = metrics.seconds(
    'vitascope_encoding_job_duration_seconds',
    'Time from the acceptance of a job to its end, by outcome: ok, cancelled, or the code of the failure',
    ['outcome'],
    BUCKET_MINUTES.map((minutes) => minutes * 60),
  )
  // Each outcome starts at zero, so that `rate()` counts its first job.
  for (const outcome of OUTCOMES) duration.zero({ outcome })
  return ({ createTime }, { state, code }) =>
    duration.observe({ outcome: state === 'failed' ? String(code) : state }, (Date.now() - createTime.getTime()) / 1_000)
}
