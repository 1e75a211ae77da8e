import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { CrashPoint } from '../src/crash-point.ts'
import { doneJobs, goesOn } from './dying-service.ts'
import { makeVideo } from './fixture.ts'
import { framesOfSet } from './frames.ts'
import { endProcesses, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { openCaller, type Surroundings, startSurroundings } from './service-under-test.ts'

let around: Surroundings
let nextJob = 1

beforeAll(async () => {
  around = await startSurroundings()
  around.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
  around.origin.serve('/real.mp4', await makeVideo(join(around.folder, 'real.mp4'), 4))
}, 60_000)
afterEach(() => endProcesses())
afterAll(() => around.close())

const points: CrashPoint[] = [
  'fetch-began',
  'fetch-stored',
  'fetch-recorded',
  'probe-recorded',
  'chunk-recorded',
  'publish-undecided',
  'publish-recorded',
  'report-sent',
]
const slidePoints: CrashPoint[] = ['publish-undecided', 'publish-recorded', 'report-sent']

test.each([...points.map((point) => [point, 'renditions'] as const), ...slidePoints.map((point) => [point, 'slides'] as const)])(
  'a service that dies at %s of %s goes on where it was after its next start',
  async (point, kind) => {
    const { attempt, died } = await goesOn(around, doneJobs(around)[kind], String(nextJob++), point)
    expect(died).toBe(true)
    // A lost fetch is a fault of ours; nothing else that happens here is one.
    expect(attempt).toBe(point === 'fetch-began' || point === 'fetch-stored' ? 2 : 1)
  },
)

/** In the long tests at each, three times. */
const isLong = process.env['VITASCOPE_LONG_TESTS'] === '1'
const STEP = { commit: isLong ? 1 : 12, put: isLong ? 6 : 45 }
const TIMES = isLong ? 3 : 1

test.each(['renditions', 'slides'] as const)(
  'a service that dies behind any change of its database, for %s, comes to one whole set and leaves nothing else',
  async (kind) => {
    let deaths = 0
    for (let round = 0; round < TIMES; round++) {
      for (let commit = 1, died = true; died; commit += STEP.commit) {
        const jobId = String(nextJob++)
        const end = await goesOn(around, doneJobs(around)[kind], jobId, `commit:${commit}`).catch((error: unknown) => {
          throw new Error(`after commit ${commit}`, { cause: error })
        })
        died = end.died
        if (died) deaths += 1
        expect(end.attempt).toBeLessThanOrEqual(2)
        await endProcesses()
      }
    }
    process.stdout.write(`\n${kind}: ${deaths} deaths behind a commit\n`)
    expect(deaths).toBeGreaterThanOrEqual(2 * TIMES)
  },
  1_800_000,
)

test('a worker that dies behind any object that it stores has a successor who makes the same frames', async () => {
  const service = await startServiceProcess(around, { VITASCOPE_LEASE_MS: '2000' })
  const caller = openCaller(service.address)
  let undisturbed: string[] | undefined
  let deaths = 0
  // The first one is not disturbed.
  for (let put = 0, died = true, round = 0; round < TIMES; ) {
    const jobId = String(nextJob++)
    const worker = await startWorkerProcess(around, service.address, put === 0 ? {} : { VITASCOPE_CRASH_AT: `put:${put}` })
    await caller.jobs.createJob(
      { jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: around.origin.url('/real.mp4') },
      caller.call,
    )
    const isPublished = () => around.catalogue.published(jobId)[0]
    const ended = worker.exited.then(() => 'ended' as const)
    const first = await Promise.race([ended, waitFor(isPublished, { timeout: 120_000, describe: `the set of job ${jobId}` })])
    died = first === 'ended'
    if (died) {
      deaths += 1
      await startWorkerProcess(around, service.address)
    }
    const set = await waitFor(isPublished, { timeout: 120_000, describe: `the set of job ${jobId} after ${put} objects` })
    const frames = await framesOfSet(around, set)
    undisturbed ??= frames
    expect(frames).toEqual(undisturbed)
    await waitFor(async () => (await around.objects(`work/${jobId}`)).length === 0)
    await endProcesses({ but: service.pid })
    if (put > 0 && !died) {
      round += 1
      put = 1
    } else put = put === 0 ? 1 : put + STEP.put
  }
  process.stdout.write(`\n${deaths} deaths behind an object\n`)
  expect(deaths).toBeGreaterThanOrEqual(2 * TIMES)
  caller.close()
}, 1_800_000)
