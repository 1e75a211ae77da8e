import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { DomainError, notFound } from '@vitascope/errors'
import { Job as EncodingJob, JobState } from '@vitascope/proto/encoding/v1/job'
import { testLog } from '@vitascope/testing'
import { type CatalogueDatabase, catalogueDatabase } from '../../../test/catalogue-database.ts'
import { reconcileJobs } from './reconcile.ts'
import { createStaleEncodeJobs } from './stale-encode-jobs-store.ts'

/** Jobs whose final report was requested again. */
const repeated: string[] = []
let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
beforeEach(async () => {
  await catalogue.db.query('truncate outbox')
  await catalogue.db.query('delete from job')
  repeated.length = 0
})
afterAll(() => catalogue.close())

/** Runs one round one minute later. `response` is what encoding returns for every job. */
async function reconcileLater(response: Partial<EncodingJob> | Error, times = { staleSeconds: 30, resultSeconds: 600 }) {
  await catalogue.db.query(`update job set check_time = check_time - interval '1 minute', ended_since = ended_since - interval '1 minute'`)
  const encoding = {
    getJob: async () => {
      if (response instanceof Error) throw response
      return { job: EncodingJob.fromPartial(response) }
    },
    repeatReport: async ({ jobId = '' }) => {
      repeated.push(jobId)
      return {}
    },
  }
  const staleJobs = createStaleEncodeJobs(catalogue.db, catalogue.enqueue)
  await reconcileJobs({ staleJobs, jobs: catalogue.jobs, encoding, log: testLog, ...times }, new AbortController().signal)
}
const listTopics = async () => (await catalogue.messages()).map(({ topic }) => topic)
const unknown = notFound('job', '1')
const unavailable = new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'away')

describe('a job that encoding does not know', () => {
  test('is sent again, unless a message is pending', async () => {
    await catalogue.upload()
    await reconcileLater(unknown)
    expect(await listTopics()).toEqual(['job.created'])
    await catalogue.db.query('truncate outbox')
    await reconcileLater(unknown)
    expect(await listTopics()).toEqual(['job.created'])
  })
  test('is sent again five times, and then fails', async () => {
    // Several uploads, because the result must not depend on the fraction of a millisecond at which
    // a round runs.
    const uploads = await Promise.all(Array.from({ length: 12 }, () => catalogue.upload()))
    for (let round = 1; round <= 6; round++) {
      for (const { jobId } of uploads) expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'queued' })
      await catalogue.db.query('truncate outbox')
      await reconcileLater(unknown)
      expect(await listTopics()).toEqual(round <= 5 ? uploads.map(() => 'job.created') : [])
    }
    for (const { videoId, jobId } of uploads) {
      expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'failed', code: 5001 })
      expect((await catalogue.videos.find('1', videoId))?.status).toMatchObject({ state: 'failed', code: 5001 })
    }
  })
})

describe('a job that ended in encoding without a report', () => {
  test.each([
    ['failed', { state: JobState.JOB_STATE_FAILED, code: 4002, message: 'not a video' }, { code: 4002, message: 'not a video' }],
    ['cancelled', { state: JobState.JOB_STATE_CANCELLED }, { code: 4005 }],
  ])('%s: ends here too, once the report is late', async (_, response, outcome) => {
    const { jobId } = await catalogue.upload()
    await reconcileLater(response)
    expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'queued' })
    expect(repeated).toEqual([jobId])
    await reconcileLater(response)
    expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'failed', ...outcome })
  })
  test('successfully: is requested to report again, and fails after a longer time without its set', async () => {
    const { jobId } = await catalogue.upload()
    const response = { state: JobState.JOB_STATE_OK }
    await reconcileLater(response)
    await reconcileLater(response)
    expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'queued' })
    expect(repeated).toEqual([jobId, jobId])
    await reconcileLater(response, { staleSeconds: 30, resultSeconds: 60 })
    expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'failed', code: 5002 })
  })
})

test.each([
  ['runs it', { state: JobState.JOB_STATE_ENCODING }],
  ['is unavailable', unavailable],
])('a job is unchanged when encoding %s', async (_, response) => {
  const { jobId } = await catalogue.upload()
  await catalogue.db.query('truncate outbox')
  for (let round = 0; round < 8; round++) await reconcileLater(response)
  expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'queued' })
  expect(await listTopics()).toEqual([])
})

test('jobs with a recent report, and ended jobs, are not claimed', async () => {
  await catalogue.play()
  await catalogue.db.query(`update job set check_time = now() - interval '1 day'`)
  await catalogue.upload()
  expect(await createStaleEncodeJobs(catalogue.db, catalogue.enqueue).claim(30)).toEqual([])
})
