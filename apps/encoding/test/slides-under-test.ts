import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, jest } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import type { SlideSet } from '@vitascope/proto/catalogue/v1/slide_set'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { waitFor } from '@vitascope/testing'
import { makePdf, makePlainPage } from './pdf.ts'
import { endProcesses, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { type Caller, filesIn, openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

/** Rendering takes about a second, and many seconds on a busy machine. */
const TIMEOUT_MS = 100_000

/** Same as `waitFor`, with a longer timeout. */
export const waitLong: typeof waitFor = (condition, options) => waitFor(condition, { timeout: TIMEOUT_MS, ...options })

export const twoPages = () => makePdf([makePlainPage('1 0 0', 1), makePlainPage('0 0 1', 2, { width: 595, height: 842 })])

/**
 * Call it at the top of a test file. The service and its workers run as processes, which end after
 * each test.
 */
export function slidesUnderTest() {
  let environment: TestEnvironment
  let caller: Caller
  let jobs = 0
  const nextJobId = () => `${++jobs}`

  jest.setTimeout(3 * TIMEOUT_MS)
  beforeAll(async () => {
    environment = await startTestEnvironment()
  })
  afterEach(async () => {
    caller.close()
    await endProcesses()
    await environment.deleteJobs()
  })
  afterAll(() => environment.close())

  /** Starts the service; `caller` is then its client. */
  async function start(env: Record<string, string> = {}) {
    const service = await startServiceProcess(environment, env)
    caller = openCaller(service.address)
    return service
  }
  const startWorker = (service: { address: string }, env: Record<string, string> = {}) =>
    startWorkerProcess(environment, service.address, { VITASCOPE_LIBREOFFICE: 'off', ...env })

  /** Stores a file as an upload does, and creates a slides job. */
  async function create(file: Buffer): Promise<string> {
    const jobId = nextJobId()
    const sourceObject = `upload/${jobId}/file`
    await environment.storage.put(sourceObject, file)
    const request = { jobId, presentationId: `8${jobId}`, organisationId: '1', sourceObject, sourceBytes: file.length }
    await caller.jobs.createSlideJob(request, caller.call)
    return jobId
  }

  /**
   * Waits for the result of the job. It must be reported once, and storage must contain exactly the
   * files of its set and the uploaded file.
   */
  async function expectSlides(jobId: string, count: number): Promise<SlideSet> {
    const findOutcome = () => environment.catalogue.slides(jobId)[0] ?? environment.catalogue.failed(jobId)[0]
    const set = await waitLong(findOutcome, { describe: `slides of job ${jobId}` })
    if (!('slides' in set)) throw new Error(`job ${jobId} failed: ${set.code} ${set.message}`)
    expect((await caller.job(jobId)).state).toBe(JobState.JOB_STATE_OK)
    expect(set).toMatchObject({ jobId, prefix: expect.stringMatching(new RegExp(`^slides/8${jobId}/${jobId}-\\d+-[0-9a-f]{12}$`)) })
    expect(set.slides).toHaveLength(count)
    await waitLong(async () => (await environment.objects(`work/${jobId}`)).length === 0)
    const files = [...set.slides.flatMap(({ path, thumbnailPath }) => [path, thumbnailPath]), set.documentPath]
    await waitLong(async () => (await environment.objects(`slides/8${jobId}`)).every((name) => name.startsWith(`${set.prefix}/`)))
    expect((await environment.objects(`slides/8${jobId}`)).sort()).toEqual(files.map((file) => `${set.prefix}/${file}`).sort())
    let bytes = 0
    for await (const object of environment.storage.list(set.prefix)) bytes += object.bytes
    expect(bytes).toBe(set.bytes)
    expect(await environment.objects(`upload/${jobId}`)).toHaveLength(1)
    expect([environment.catalogue.slides(jobId).length, environment.catalogue.failed(jobId).length]).toEqual([1, 0])
    return set
  }

  /** Waits until the job fails with 4002 in its first attempt. */
  async function expectRejected(jobId: string, reason: RegExp): Promise<void> {
    const failed = await waitLong(() => environment.catalogue.failed(jobId)[0], { describe: `job ${jobId} to be rejected` })
    expect(failed).toEqual({ code: 4002, message: expect.stringMatching(reason) })
    expect(await caller.job(jobId)).toMatchObject({ state: JobState.JOB_STATE_FAILED, attempt: 1 })
    await expectNothing(jobId)
  }

  /** Waits until neither storage nor the scratch folder contains files of the job. */
  async function expectNothing(jobId: string): Promise<void> {
    for (const prefix of [`work/${jobId}`, `slides/8${jobId}`]) {
      await waitLong(async () => (await environment.objects(prefix)).length === 0, { describe: `${prefix} to be empty` })
    }
    await expectEmptyScratch()
  }

  /** Waits until the scratch folder of the worker is empty. */
  async function expectEmptyScratch(): Promise<void> {
    await waitLong(async () => (await filesIn(join(environment.folder, 'scratch/worker-worker-1'))).length === 0)
  }

  /**
   * Returns codec, width and height of a JPEG in storage, and the colour in the middle of its top.
   */
  async function probeImage(name: string) {
    const { ffmpeg, ffprobe } = await findFfmpeg()
    const file = join(environment.folder, 'image.jpg')
    await environment.storage.download(name, file)
    const size = await promisify(execFile)(ffprobe, [
      '-v',
      'error',
      '-show_entries',
      'stream=codec_name,width,height',
      '-of',
      'csv=p=0',
      file,
    ])
    const pixel = ['-vf', 'crop=2:2:iw/2:8', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-frames:v', '1', '-']
    const { stdout } = await promisify(execFile)(ffmpeg, ['-v', 'error', '-i', file, ...pixel], { encoding: 'buffer' })
    await rm(file)
    return { size: size.stdout.trim(), rgb: [...stdout.subarray(0, 3)].map((value) => Math.round(value / 85)) }
  }

  return {
    get environment() {
      return environment
    },
    get caller() {
      return caller
    },
    nextJobId,
    start,
    startWorker,
    create,
    expectSlides,
    expectRejected,
    expectNothing,
    expectEmptyScratch,
    probeImage,
  }
}
