import type { Db } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import type { Logger, Metrics } from '@vitascope/telemetry'

type Gauge = ReturnType<Metrics['gauge']>

/**
 * Registers metrics of the queue depth, and of the durations and outcomes of jobs. They are read
 * from the database at each scrape. If the database is unavailable, they keep their last values and
 * the other metrics are still served.
 */
export function observeJobs(metrics: Metrics, db: Db, queue: Queue, log: Logger): void {
  const reading = (read: (gauge: Gauge) => Promise<void>) => (gauge: Gauge) =>
    read(gauge).catch((error: unknown) => log.warn({ err: error }, 'reading job metrics failed'))
  metrics.gauge(
    'vitascope_encoding_queue_depth',
    'Tasks by kind and state',
    ['kind', 'state'],
    reading(async (gauge) => {
      const depth = await queue.depth()
      gauge.reset()
      for (const { kind, waiting, leased } of depth) {
        gauge.set({ kind, state: 'waiting' }, waiting)
        gauge.set({ kind, state: 'leased' }, leased)
      }
    }),
  )
  metrics.gauge(
    'vitascope_encoding_queue_cpu_seconds',
    'Processor seconds that the planned jobs under way are expected to take',
    [],
    reading(async (gauge) => {
      const [row] = await db.query<{ seconds: number | null }>(
        `select sum((plan->>'expectedCpuSeconds')::float8) as seconds from job where state in ('encoding', 'publishing')`,
      )
      gauge.set(row?.seconds ?? 0)
    }),
  )
  const hour = {
    count: 'Jobs that ended within the last hour',
    seconds: 'Seconds from coming to the end, on average, of jobs that ended within the last hour',
  }
  const count = metrics.gauge('vitascope_encoding_jobs_ended', hour.count, ['outcome'])
  metrics.gauge(
    'vitascope_encoding_job_seconds',
    hour.seconds,
    ['outcome'],
    reading(async (gauge) => {
      const rows = await db.query<{ outcome: string; jobs: number; seconds: number }>(
        `select case when state = 'failed' then code::text else state end as outcome, count(*)::int as jobs,
         avg(extract(epoch from finish_time - create_time))::float8 as seconds
       from job where finish_time > now() - interval '1 hour' and media_id <> '' group by 1`,
      )
      gauge.reset()
      count.reset()
      for (const { outcome, jobs, seconds } of rows) {
        gauge.set({ outcome }, seconds)
        count.set({ outcome }, jobs)
      }
    }),
  )
}
