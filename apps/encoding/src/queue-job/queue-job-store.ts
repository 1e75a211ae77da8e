import { DomainError } from '@vitascope/errors'
import { type Db, jsonCodec, once } from '@vitascope/postgres'

export interface NewQueueJob {
  jobName: string
  priority: number
  /** JSON, or empty. */
  data: string
}

export interface QueueJob extends NewQueueJob {
  jobId: string
  createTime: Date
}

export interface QueueJobStore {
  /** Answers the id; refuses with QUEUE_FULL. */
  add(job: NewQueueJob, call: Parameters<typeof once>[1]): Promise<string>
  /**
   * The first job, gone for good or under a lease; undefined when there is none. No two calls ever get the same one. Cost: two statements,
   * each by a partial index.
   */
  pop(leaseSeconds: number, signal?: AbortSignal): Promise<QueueJob | undefined>
  /** False when there is no such job. */
  remove(jobId: string, signal?: AbortSignal): Promise<boolean>
}

const MOST_JOBS = 1_000_000

const FIRST = `(select job_id from queue_job where lease_end is null order by priority desc, job_id limit 1 for update skip locked)`
const COLUMNS = 'job_id, job_name, priority, data, create_time'

interface Row {
  job_id: string
  job_name: string
  priority: number
  data: string
  create_time: Date
}

export function createQueueJobStore(db: Db, mostJobs = MOST_JOBS): QueueJobStore {
  return {
    add: ({ jobName, priority, data }, call) =>
      once(db, call, jsonCodec<string>(), async ({ query }) => {
        // The span of the ids is never less than the count, and found at once.
        const [span] = await query<{ ids: string }>('select coalesce(max(job_id) - min(job_id) + 1, 0) as ids from queue_job')
        if (Number(span?.ids) >= mostJobs) {
          const [full] = await query('select 1 from queue_job offset $1 limit 1', [mostJobs - 1])
          if (full) throw new DomainError('refused', 'QUEUE_FULL', `the queue holds ${mostJobs} jobs: take some out first`)
        }
        const [row] = await query<{ job_id: string }>(
          'insert into queue_job (job_name, priority, data) values ($1, $2, $3) returning job_id',
          [jobName, priority, data],
        )
        if (!row) throw new Error('an insert answered no row')
        return row.job_id
      }),
    async pop(leaseSeconds, signal) {
      signal?.throwIfAborted()
      await db.query(
        `update queue_job set lease_end = null where job_id in (
           select job_id from queue_job where lease_end < now() order by lease_end limit 1000 for update skip locked)`,
      )
      // Whoever went away meanwhile gets none: it would be lost.
      signal?.throwIfAborted()
      const [row] =
        leaseSeconds === 0
          ? await db.query<Row>(`delete from queue_job where job_id = ${FIRST} returning ${COLUMNS}`)
          : await db.query<Row>(
              `update queue_job set lease_end = now() + $1::int * interval '1 second' where job_id = ${FIRST} returning ${COLUMNS}`,
              [leaseSeconds],
            )
      return row && toQueueJob(row)
    },
    async remove(jobId, signal) {
      signal?.throwIfAborted()
      return (await db.query('delete from queue_job where job_id = $1 returning 1', [jobId])).length > 0
    },
  }
}

function toQueueJob({ job_id: jobId, job_name: jobName, priority, data, create_time: createTime }: Row): QueueJob {
  return { jobId, jobName, priority, data, createTime }
}
