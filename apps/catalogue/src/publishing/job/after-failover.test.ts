import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { DomainError, notFound } from '@vitascope/errors'
import { Job as EncodingJob, JobState } from '@vitascope/proto/encoding/v1/job'
import { testLog } from '@vitascope/testing'
import { type CatalogueDatabase, catalogueDatabase } from '../../../test/catalogue-database.ts'
import { createAfterFailover } from './after-failover.ts'
import { type ReconcileTimes, reconcileJobs } from './reconcile.ts'
import { createStaleEncodeJobs } from './stale-encode-jobs-store.ts'

let catalogue: CatalogueDatabase
/** The state that encoding returns for a job. */
let readState: (jobId: string) => Partial<EncodingJob> | Error
let repeated: string[]
let afterFailover: (signal: AbortSignal) => Promise<void>

beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
beforeEach(async () => {
  await catalogue.db.query('truncate outbox, failover')
  await catalogue.db.query('delete from job')
  repeated = []
  const encoding = {
    getJob: async ({ jobId = '' }) => {
      const response = readState(jobId)
      if (response instanceof Error) throw response
      return { job: EncodingJob.fromPartial(response) }
    },
    repeatReport: async ({ jobId = '' }) => {
      repeated.push(jobId)
      return {}
    },
  }
  const staleJobs = createStaleEncodeJobs(catalogue.db, catalogue.enqueue)
  const round = (times: ReconcileTimes, signal: AbortSignal) =>
    reconcileJobs({ staleJobs, jobs: catalogue.jobs, encoding, log: testLog, ...times }, signal)
  afterFailover = createAfterFailover({ db: catalogue.db, rounds: [round], resultSeconds: 600, log: testLog })
})
afterAll(() => catalogue.close())

/** Creates running uploads and then records a failover. */
async function uploads(count: number): Promise<string[]> {
  const jobs = await Promise.all(Array.from({ length: count }, () => catalogue.upload()))
  await catalogue.db.query('truncate outbox')
  await catalogue.db.query(`update job set check_time = now() - interval '1 second'`)
  await catalogue.db.query(`insert into failover (system_id, timeline) values ('1', '00000002')`)
  return jobs.map(({ jobId }) => jobId)
}
const run = () => afterFailover(new AbortController().signal)
const open = async () => (await catalogue.db.query('select from failover where settle_time is null')).length
const listResentJobs = async () => (await catalogue.messages()).map(({ payload }) => payload.jobId)

test('after a failover, every active job is checked: unknown ones are sent again, and ended ones report again', async () => {
  // More than one round claims.
  const jobs = await uploads(120)
  const [ended = '', failed = '', working = ''] = jobs
  readState = (jobId) => {
    if (jobId === ended) return { state: JobState.JOB_STATE_OK }
    if (jobId === failed) return { state: JobState.JOB_STATE_FAILED, code: 4002 }
    return jobId === working ? { state: JobState.JOB_STATE_ENCODING } : notFound('job', jobId)
  }
  await run()
  expect(repeated.sort()).toEqual([ended, failed].sort())
  expect((await listResentJobs()).sort()).toEqual(jobs.slice(3).sort())
  expect(await open()).toBe(0)
  await run()
  expect(await listResentJobs()).toHaveLength(117)
})

test('the checks continue after an outage of encoding, and exclude jobs that were created since', async () => {
  // A round claims 50 jobs.
  const jobs = await uploads(60)
  readState = () => new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'away')
  for (let attempt = 0; attempt < 3; attempt++) await run()
  expect(await open()).toBe(1)
  const { jobId: later } = await catalogue.upload()
  await catalogue.db.query('truncate outbox')
  readState = (id) => notFound('job', id)
  await catalogue.db.query(`update job set check_time = now() + interval '1 second' where job_id = $1`, [later])
  await run()
  expect([(await listResentJobs()).sort(), await open()]).toEqual([jobs.toSorted(), 0])
})
