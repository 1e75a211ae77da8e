// Faults: S6
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { freePort, waitFor } from '@vitascope/testing'
import { filesIn, startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startInProcess>>
let nextJob = 1

beforeAll(async () => {
  environment = await startTestEnvironment()
})
afterEach(() => service.stop())
afterAll(() => environment.close())

async function start(overrides: Partial<ReturnType<typeof environment.config>['source']> = {}) {
  service = await startInProcess(environment, { source: { ...environment.config().source, ...overrides } })
}

/** Removes the jobs of earlier tests, which would count as jobs in progress. */
async function removeJobs(): Promise<void> {
  await environment.db.query('truncate job, chunk, segment, object_prefix, work_item')
}

async function create(sourceUrl: string, lowPriority = false): Promise<string> {
  const jobId = String(nextJob++)
  await service.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl, lowPriority }, service.call)
  return jobId
}

/** Creates a job, and returns it when it has failed and its files are deleted. */
async function createFailingJob(sourceUrl: string) {
  const jobId = await create(sourceUrl)
  await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_FAILED)
  expect(await environment.objects(`source/${jobId}`)).toEqual([])
  await waitFor(async () => (await filesIn(join(environment.folder, 'scratch/fetch'))).length === 0)
  return service.job(jobId)
}

describe('an unavailable source fails its job', () => {
  test('with 4001 and no retry when it does not exist', async () => {
    await start()
    expect(await createFailingJob(environment.origin.url('/nothing.mp4'))).toMatchObject({ code: 4001, attempt: 1 })
  })
  test('with 4001 when no server listens at its address, in the first attempt of the job', async () => {
    await start()
    expect(await createFailingJob(`http://127.0.0.1:${await freePort()}/a.mp4`)).toMatchObject({ code: 4001, attempt: 1 })
  })
  test('with 4003 when it is too large, with or without Content-Length', async () => {
    await start({ maxBytes: 1000 })
    environment.origin.serve('/large.mp4', Buffer.alloc(2000))
    expect(await createFailingJob(environment.origin.url('/large.mp4'))).toMatchObject({ code: 4003 })
    environment.origin.setHandler('/endless.mp4', (response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(100)), 1)
      response.once('close', () => clearInterval(timer))
    })
    expect(await createFailingJob(environment.origin.url('/endless.mp4'))).toMatchObject({ code: 4003 })
  })
  test('with 4001 when it takes too long', async () => {
    await start({ timeoutSeconds: 1 })
    environment.origin.setHandler('/drip.mp4', (response) => void response.writeHead(200).write('a'))
    expect(await createFailingJob(environment.origin.url('/drip.mp4'))).toMatchObject({ code: 4001 })
  })
  test.each([
    ['an IP address', () => environment.origin.url('/a.mp4')],
    ['a host name', () => environment.origin.url('/a.mp4').replace('127.0.0.1', 'localhost')],
    ['another notation', () => environment.origin.url('/a.mp4').replace('127.0.0.1', '0x7f.1')],
  ])('with 4004 when it is at a forbidden address: %s', async (_, url) => {
    await start({ allow: [] })
    expect(await createFailingJob(url())).toMatchObject({ code: 4004, attempt: 1 })
    expect(environment.origin.hits('/a.mp4')).toBe(0)
  })
  test('with 4004 when it redirects to a forbidden address', async () => {
    await start({ allow: ['127.0.0.0/8'] })
    environment.origin.setHandler('/away.mp4', (response) => void response.writeHead(302, { location: 'http://10.1.2.3/a.mp4' }).end())
    expect(await createFailingJob(environment.origin.url('/away.mp4'))).toMatchObject({ code: 4004 })
  })
})

describe('a source', () => {
  test('is fetched through the proxy, which resolves its name', async () => {
    await start({ allow: [], proxy: environment.origin.url('/') })
    const url = 'http://videos.example/proxied.mp4'
    environment.origin.setHandler(url, (response) => void response.writeHead(410).end())
    expect(await createFailingJob(url)).toMatchObject({ code: 4001, attempt: 1 })
    expect(environment.origin.hits(url)).toBe(1)
  })
  test('that fails once is requested again', async () => {
    await start()
    environment.origin.setHandler('/shaky.mp4', (response) => {
      if (environment.origin.hits('/shaky.mp4') === 1) response.writeHead(503).end()
      else response.writeHead(200, { 'content-length': 3 }).end('abc')
    })
    const jobId = await create(environment.origin.url('/shaky.mp4'))
    await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_PROBING)
    expect((await environment.objects(`source/${jobId}`)).length).toBe(1)
  })
  test('is not fetched while the limit of jobs in progress is reached', async () => {
    environment.origin.serve('/small.mp4', Buffer.from('abc'))
    await removeJobs()
    await start({ maxJobsAhead: 1, parallel: 1 })
    const [first, second] = [await create(environment.origin.url('/small.mp4')), await create(environment.origin.url('/small.mp4'))]
    await waitFor(async () => (await service.job(first)).state === JobState.JOB_STATE_PROBING)
    expect((await service.job(second)).state).toBe(JobState.JOB_STATE_QUEUED)
    await service.jobs.cancelJob({ jobId: first }, service.call)
    await waitFor(async () => (await service.job(second)).state === JobState.JOB_STATE_PROBING)
  })
  test('of a low-priority job does not delay sources of normal jobs', async () => {
    environment.origin.serve('/small.mp4', Buffer.from('abc'))
    await removeJobs()
    await start({ maxJobsAhead: 2, parallel: 1 })
    const url = environment.origin.url('/small.mp4')
    const low = [await create(url, true), await create(url, true), await create(url, true)]
    const isFetched = async (id = '') => (await service.job(id)).state === JobState.JOB_STATE_PROBING
    await waitFor(async () => (await isFetched(low[0])) && (await isFetched(low[1])), { describe: 'two sources to be fetched' })
    const normal = [await create(url), await create(url), await create(url)]
    await waitFor(async () => (await isFetched(normal[0])) && (await isFetched(normal[1])), { describe: 'two other sources to be fetched' })
    const states = await Promise.all([low[2], normal[2]].map(async (id = '') => (await service.job(id)).state))
    expect(states).toEqual([JobState.JOB_STATE_QUEUED, JobState.JOB_STATE_QUEUED])
  })
  test('whose download is interrupted by a shutdown is fetched again without counting an attempt', async () => {
    await removeJobs()
    await start()
    environment.origin.setHandler('/long.mp4', (response) => {
      if (environment.origin.hits('/long.mp4') === 1) response.writeHead(200).write('half')
      else response.writeHead(200).end('whole')
    })
    const jobId = await create(environment.origin.url('/long.mp4'))
    await waitFor(() => environment.origin.hits('/long.mp4') === 1)
    await service.stop()
    await start()
    await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_PROBING)
    expect(await service.job(jobId)).toMatchObject({ attempt: 1 })
  })
})

test('the files of a killed process are deleted as soon as its lease has ended', async () => {
  await removeJobs()
  const scratch = join(environment.folder, 'scratch/fetch')
  for (const folder of ['900-5', '900-6']) {
    await mkdir(join(scratch, folder), { recursive: true })
    await writeFile(join(scratch, folder, 'source'), 'half')
  }
  await environment.db.query(
    `insert into work_item (key, kind, group_key, priority, turn, payload, state, fence, holder, lease_ms, lease_end)
     values ('job:900', 'fetch', '1', 0, 0, '{}', 'leased', 6, 'fetcher:killed', 4000, now() + interval '1 hour')`,
  )
  const { timing } = environment.config()
  service = await startInProcess(environment, { timing: { ...timing, fetchLeaseMs: 500 } })
  await waitFor(async () => (await filesIn(scratch)).join() === '900-6,900-6/source', { describe: 'the first folder to be deleted' })
  await environment.db.query(`delete from work_item where key = 'job:900'`)
  await waitFor(async () => (await filesIn(scratch)).length === 0, { describe: 'the second folder to be deleted' })
})

describe('a source that waits for a retry does not count as a job in progress', () => {
  // If these sources counted, they alone could use up the limit, and none would be fetched.
  test('when a stopped service released it', async () => {
    await removeJobs()
    environment.origin.setHandler('/late.mp4', (response) => void response.writeHead(200).write('a'))
    await start({ maxJobsAhead: 1 })
    const jobId = await create(environment.origin.url('/late.mp4'))
    await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_FETCHING, { describe: 'the fetch to begin' })
    await service.stop()
    environment.origin.serve('/late.mp4', Buffer.from('the bytes of a source'))
    await start({ maxJobsAhead: 1 })
    await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_PROBING, { describe: 'the source to be fetched' })
  })
  test('when the storage failed', async () => {
    await removeJobs()
    environment.origin.serve('/stored.mp4', Buffer.from('the bytes of a source'))
    // This file prevents the creation of the folder.
    const blocked = join(environment.folder, 'storage/source')
    await rm(blocked, { recursive: true, force: true })
    await writeFile(blocked, '')
    const { source, timing } = environment.config()
    // After a failure of the storage, the first pause is ten times `retryMs`: about 2 s.
    service = await startInProcess(environment, { source: { ...source, maxJobsAhead: 2 }, timing: { ...timing, retryMs: 200 } })
    const jobIds = [await create(environment.origin.url('/stored.mp4')), await create(environment.origin.url('/stored.mp4'))]
    for (const jobId of jobIds) {
      const failed = () => environment.db.query('select 1 from job where job_id = $1 and storage_faults > 0', [jobId])
      await waitFor(async () => (await failed()).length > 0, { describe: `the first try of job ${jobId} to fail` })
    }
    await rm(blocked)
    for (const jobId of jobIds) {
      await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_PROBING, { describe: `job ${jobId} to continue` })
    }
  })
})
