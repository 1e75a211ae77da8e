// Faults: C2
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import type { PosterSet } from '@vitascope/proto/catalogue/v1/poster_set'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { endProcesses, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { type Caller, openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'
import { waitLong } from './slides-under-test.ts'

jest.setTimeout(300_000)
let environment: TestEnvironment
let caller: Caller
let picture: Buffer
let jobs = 0
beforeAll(async () => {
  environment = await startTestEnvironment()
  const file = join(environment.folder, 'picture.png')
  const { ffmpeg } = await findFfmpeg()
  await promisify(execFile)(ffmpeg, ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=1920x1080', '-frames:v', '1', file])
  picture = await readFile(file)
})
afterEach(async () => {
  caller.close()
  await endProcesses()
  await environment.deleteJobs()
})
afterAll(() => environment.close())

async function start(env: Record<string, string> = {}) {
  const service = await startServiceProcess(environment, env)
  caller = openCaller(service.address)
  return service
}

async function createFromUrl(url: string): Promise<string> {
  const jobId = `${++jobs}`
  await caller.jobs.createPosterJob(
    { jobId, mediaId: `8${jobId}`, organisationId: '1', source: { $case: 'sourceUrl', value: url } },
    caller.call,
  )
  return jobId
}

const findSet = (jobId: string): PosterSet | undefined =>
  environment.catalogue.reports.flatMap(({ jobId: id, update }) =>
    id === jobId && update?.$case === 'posterMade' && update.value.poster ? [update.value.poster] : [],
  )[0]

/** Waits for the images of the job. Storage must contain exactly these below the media. */
async function expectImages(jobId: string): Promise<PosterSet> {
  const set = await waitLong(() => findSet(jobId), { describe: `images of job ${jobId}` })
  expect(set).toEqual({
    jobId,
    prefix: expect.stringMatching(new RegExp(`^media/8${jobId}/${jobId}-\\d+-[0-9a-f]{12}$`)),
    poster: { path: 'poster.jpg', width: 1280, height: 720 },
    thumbnail: { path: 'thumbnail.jpg', width: 426, height: 240 },
  })
  const files = [`${set.prefix}/poster.jpg`, `${set.prefix}/thumbnail.jpg`]
  await waitLong(
    async () => (await environment.objects(`work/${jobId}`)).length + (await environment.objects(`source/${jobId}`)).length === 0,
  )
  await waitLong(async () => (await environment.objects(`media/8${jobId}`)).length === files.length)
  expect((await environment.objects(`media/8${jobId}`)).sort()).toEqual(files)
  return set
}

/** Starts an HTTP server that responds with `body` to each request. */
async function startSite(body: () => Buffer) {
  const server = createServer((_, response) => response.end(body()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/picture`, close: () => server.close() }
}

test('a picture at a URL becomes the images of a video', async () => {
  await startWorkerProcess(environment, (await start()).address, {})
  const site = await startSite(() => picture)
  const jobId = await createFromUrl(site.url)
  await expectImages(jobId)
  expect(await caller.job(jobId)).toMatchObject({ state: JobState.JOB_STATE_OK, progress: 100, attempt: 1 })
  site.close()
})

test.each([
  ['a page', () => Buffer.from('<!doctype html><title>No picture</title>'), 4002, /JPEG, PNG or WebP/],
  ['half of a picture', () => picture.subarray(0, picture.length / 2), 4002, /damaged/],
  ['11 MiB', () => Buffer.concat([picture, Buffer.alloc(11 * 2 ** 20)]), 4003, /10485760 bytes/],
] as const)('%s at the URL fails the job without a retry', async (_, body, code, message) => {
  await startWorkerProcess(environment, (await start()).address, {})
  const site = await startSite(body)
  const jobId = await createFromUrl(site.url)
  const failed = await waitLong(() => environment.catalogue.failed(jobId)[0], { describe: 'the rejection' })
  expect(failed).toEqual({ code, message: expect.stringMatching(message) })
  expect(await caller.job(jobId)).toMatchObject({ attempt: 1 })
  await waitLong(async () => (await environment.objects(`media/8${jobId}`)).length === 0)
  site.close()
})

test('an upload that does not exist is rejected at once', async () => {
  await start()
  await expect(createFromUrl('upload://6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b/picture')).rejects.toMatchObject({ reason: 'UPLOAD_GONE' })
})

test('a poster job completes after kill -9 of the service, also before its set is published', async () => {
  const service = await start()
  const site = await startSite(() => picture)
  const jobId = await createFromUrl(site.url)
  service.kill('SIGKILL')
  await service.exited
  caller.close()
  const restarted = await start({ VITASCOPE_CRASH_AT: 'publish-undecided' })
  await startWorkerProcess(environment, restarted.address, {})
  await restarted.exited
  caller.close()
  await startWorkerProcess(environment, (await start()).address, {})
  await expectImages(jobId)
  site.close()
})
