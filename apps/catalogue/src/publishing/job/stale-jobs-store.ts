import type { Db, Transaction } from '@vitascope/postgres'

export interface StaleJobs<Job> {
  /**
   * Claims up to 50 active jobs that have not reported for `staleSeconds`, and hides them from other
   * replicas for the same time.
   */
  claim(staleSeconds: number): Promise<(Job & SendCount)[]>
  /** Sends a job to encoding again, unless a message is pending in the outbox or the job is no longer active. */
  resend(job: Job): Promise<void>
  /** Records that encoding reports the job as ended. Returns the seconds since this was first recorded. */
  recordEnd(jobId: string): Promise<number>
  /** Records that encoding works on the job. */
  recordRunning(jobId: string): Promise<void>
}

/** Number of times that a job was sent to encoding again. */
export interface SendCount {
  sendCount: number
}

/** The table of one kind of jobs. The names are inserted into SQL, so they must be constants. */
export interface JobKind<Job, Row> {
  table: 'job' | 'presentation_job' | 'poster'
  /** Columns to read in addition to `job_id`. */
  columns: readonly (keyof Row & string)[]
  toJob(row: Row & { job_id: string }): Job
  /** The outbox message that sends a job to encoding. */
  topic: string
  /** Returns the outbox key of the message. */
  getKey(job: Job): string
  enqueue(tx: Transaction, job: Job): Promise<unknown>
}

/** Returns the store of stale jobs of one kind. */
export function createStaleJobs<Job extends { jobId: string }, Row extends object>(db: Db, kind: JobKind<Job, Row>): StaleJobs<Job> {
  const { table, columns, toJob, topic, getKey, enqueue } = kind
  return {
    async claim(staleSeconds) {
      const rows = await db.query<Row & { job_id: string; send_count: number }>(
        `update ${table} set check_time = now() where job_id in (
           select job_id from ${table} where state in ('queued', 'running') and check_time < now() - $1 * interval '1 second'
           order by check_time limit 50 for update skip locked)
         returning job_id, send_count, ${columns.join(', ')}`,
        [staleSeconds],
      )
      return rows.map((row) => ({ ...toJob(row), sendCount: row.send_count }))
    },
    resend: (job) =>
      db.transaction(async (tx) => {
        const rows = await tx.query(
          `update ${table} set send_count = send_count + 1, ended_since = null
           where job_id = $1 and state in ('queued', 'running') and not exists (
             select from outbox where key = $2 and topic = $3 and payload ->> 'jobId' = $1::text and dead_time is null)
           returning job_id`,
          [job.jobId, getKey(job), topic],
        )
        if (rows.length > 0) await enqueue(tx, job)
      }),
    async recordEnd(jobId) {
      // The column is rounded to milliseconds, so it can be up to half a millisecond in the future.
      const [row] = await db.query<{ seconds: number }>(
        `update ${table} set ended_since = coalesce(ended_since, now()) where job_id = $1
         returning greatest(0, extract(epoch from now() - ended_since))::float8 as seconds`,
        [jobId],
      )
      return row?.seconds ?? 0
    },
    async recordRunning(jobId) {
      await db.query(
        `update ${table} set ended_since = null, send_count = 0 where job_id = $1 and (ended_since is not null or send_count > 0)`,
        [jobId],
      )
    },
  }
}
