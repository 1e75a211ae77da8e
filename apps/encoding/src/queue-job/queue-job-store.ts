import { DomainError } from '@vitascope/errors'
import { type Db, jsonCodec, withIdempotency } from '@vitascope/postgres'

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
  /** Adds a job. Returns its id. Throws QUEUE_FULL. */
  add(job: NewQueueJob, call: Parameters<typeof withIdempotency>[1]): Promise<string>
  /**
   * Returns the first waiting job, or undefined if there is none. If `leaseSeconds` is 0, the job
   * is deleted, otherwise it is leased and returns to the queue when the lease expires. No two
   * calls return the same job at once. It costs two statements, each with a partial index.
   */
  pop(leaseSeconds: number, signal?: AbortSignal): Promise<QueueJob | undefined>
  /** Deletes a job. Returns false if there is no such job. */
  remove(jobId: string, signal?: AbortSignal): Promise<boolean>
}

const MAX_JOBS = 1_000_000

const FIRST = `(select job_id from queue_job where lease_end is null order by priority desc, job_id limit 1 for update skip locked)`
const COLUMNS = 'job_id, job_name, priority, data, create_time'

interface Row {
  job_id: string
  job_name: string
  priority: number
  data: string
  create_time: Date
}

export function createQueueJobStore(db: Db, maxJobs = MAX_JOBS): QueueJobStore {
  return {
    add: ({ jobName, priority, data }, call) =>
      withIdempotency(db, call, jsonCodec<string>(), async ({ query }) => {
        // The id span is cheap to compute and never smaller than the count.
        const [span] = await query<{ ids: string }>('select coalesce(max(job_id) - min(job_id) + 1, 0) as ids from queue_job')
        if (Number(span?.ids) >= maxJobs) {
          const [full] = await query('select 1 from queue_job offset $1 limit 1', [maxJobs - 1])
          if (full)
            throw new DomainError(
              'failed_precondition',
              'QUEUE_FULL',
              `the queue has ${maxJobs} jobs, which is the maximum; remove some first`,
            )
        }
        const [row] = await query<{ job_id: string }>(
          'insert into queue_job (job_name, priority, data) values ($1, $2, $3) returning job_id',
          [jobName, priority, data],
        )
        if (!row) throw new Error('an insert returned no row')
        return row.job_id
      }),
    async pop(leaseSeconds, signal) {
      signal?.throwIfAborted()
      await db.query(
        `update queue_job set lease_end = null where job_id in (
           select job_id from queue_job where lease_end < now() order by lease_end limit 1000 for update skip locked)`,
      )
      // Checked again, because a job for a disconnected client would be lost.
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
