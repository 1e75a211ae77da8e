// Faults: C2
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { isLongRun, recordFigure, waitFor } from '@vitascope/testing'
import type { CrashPoint } from '../src/common/crash-point.ts'
import { completableJobs, runUntilComplete } from './crashing-service.ts'
import { makeVideo } from './fixture.ts'
import { hashSetFrames } from './frames.ts'
import { endProcesses, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'
import { buildCopyableProbe, countCopied, createStandInWorker } from './stand-in-worker.ts'

let environment: TestEnvironment
let nextJob = 1

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
  environment.origin.serve('/real.mp4', await makeVideo(join(environment.folder, 'real.mp4'), 4))
}, 60_000)
afterEach(() => endProcesses())
afterAll(() => environment.close())

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
  'after a crash of the service at %s of %s, the job resumes',
  async (point, kind) => {
    const { attempt, died } = await runUntilComplete(environment, completableJobs(environment)[kind], String(nextJob++), point)
    expect(died).toBe(true)
    // Only a lost fetch counts as a platform fault.
    expect(attempt).toBe(point === 'fetch-began' || point === 'fetch-stored' ? 2 : 1)
  },
)

test.each<CrashPoint>(['fault-undecided', 'fault-recorded'])(
  'after a crash of the service at %s of a copied picture, the picture is encoded in the same attempt',
  async (point) => {
    const jobId = String(nextJob++)
    const dying = await startServiceProcess(environment, { VITASCOPE_CRASH_AT: point, VITASCOPE_LEASE_MS: '2000' })
    const before = openCaller(dying.address)
    await before.jobs.createJob(
      { jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: environment.origin.url('/video.mp4') },
      before.call,
    )
    const first = createStandInWorker(before, environment.storage, 'worker-1:a')
    await first.complete(await first.lease(), buildCopyableProbe())
    const failed = await first.lease()
    expect(countCopied(failed)).toBe(1)
    await expect(first.fail(failed, 5003)).rejects.toThrow()
    expect(await dying.exited).toBe('SIGKILL')
    before.close()

    const next = await startServiceProcess(environment, { VITASCOPE_LEASE_MS: '2000' })
    const after = openCaller(next.address)
    const worker = createStandInWorker(after, environment.storage, 'worker-1:a')
    // The worker repeats the report of the fault. The service counts it once. Its lease may have expired.
    await worker.fail(failed, 5003).catch((error: unknown) => expect(error).toMatchObject({ reason: 'LEASE_LOST' }))
    await worker.complete(await worker.lease(), buildCopyableProbe())
    const encode = await worker.lease()
    expect(countCopied(encode)).toBe(0)
    await worker.complete(encode, await worker.make(encode))
    await worker.runNextTask()
    await waitFor(() => environment.catalogue.published(jobId)[0], { describe: 'the set to be reported' })
    expect((await after.job(jobId)).attempt).toBe(1)
    after.close()
  },
)

/**
 * Number of database changes (of renditions or slides) or stored objects between two crashes. The
 * long tests crash at each change and at each sixth object, three times.
 */
const STEP = { renditions: isLongRun ? 1 : 24, slides: isLongRun ? 1 : 12, put: isLongRun ? 6 : 60 }
const TIMES = isLongRun ? 3 : 1

test.each(['renditions', 'slides'] as const)(
  'after a crash of the service after a database change, for %s, the job produces one complete set and no other objects',
  async (kind) => {
    let deaths = 0
    for (let round = 0; round < TIMES; round++) {
      for (let commit = 1, died = true; died; commit += STEP[kind]) {
        const jobId = String(nextJob++)
        const end = await runUntilComplete(environment, completableJobs(environment)[kind], jobId, `commit:${commit}`).catch(
          (error: unknown) => {
            throw new Error(`after commit ${commit}`, { cause: error })
          },
        )
        died = end.died
        if (died) deaths += 1
        expect(end.attempt).toBeLessThanOrEqual(2)
        await endProcesses()
      }
    }
    recordFigure('C2', `${deaths} crashes of the service after database changes of ${kind}`)
    expect(deaths).toBeGreaterThanOrEqual(2 * TIMES)
  },
  1_800_000,
)

test('after a crash of the worker after storing an object, the next worker produces the same frames', async () => {
  const service = await startServiceProcess(environment, { VITASCOPE_LEASE_MS: '2000' })
  const caller = openCaller(service.address)
  let undisturbed: string[] | undefined
  let deaths = 0
  // The first worker is not disturbed.
  for (let put = 0, died = true, round = 0; round < TIMES; ) {
    const jobId = String(nextJob++)
    const worker = await startWorkerProcess(environment, service.address, put === 0 ? {} : { VITASCOPE_CRASH_AT: `put:${put}` })
    await caller.jobs.createJob(
      { jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: environment.origin.url('/real.mp4') },
      caller.call,
    )
    const isPublished = () => environment.catalogue.published(jobId)[0]
    const ended = worker.exited.then(() => 'ended' as const)
    const first = await Promise.race([ended, waitFor(isPublished, { timeout: 120_000, describe: `the set of job ${jobId}` })])
    died = first === 'ended'
    if (died) {
      deaths += 1
      await startWorkerProcess(environment, service.address)
    }
    const set = await waitFor(isPublished, { timeout: 120_000, describe: `the set of job ${jobId} after ${put} objects` })
    const frames = await hashSetFrames(environment, set)
    undisturbed ??= frames
    expect(frames).toEqual(undisturbed)
    await waitFor(async () => (await environment.objects(`work/${jobId}`)).length === 0)
    await endProcesses({ except: service.pid })
    if (put > 0 && !died) {
      round += 1
      put = 1
    } else put = put === 0 ? 1 : put + STEP.put
  }
  recordFigure('C2', `${deaths} crashes of the worker after stored objects`)
  expect(deaths).toBeGreaterThanOrEqual(2 * TIMES)
  caller.close()
}, 1_800_000)
