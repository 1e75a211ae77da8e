import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { waitFor } from '@vitascope/testing'
import type { CrashPoint } from '../src/crash-point.ts'
import { endProcesses, startServiceProcess } from './running-process.ts'
import { type Caller, openCaller, type Surroundings, startSurroundings } from './service-under-test.ts'
import { anAsk, standInWorker } from './stand-in-worker.ts'

let around: Surroundings
let nextJob = 1

beforeAll(async () => {
  around = await startSurroundings()
  around.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
})
afterEach(endProcesses)
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

/** Which job to create, and what is left of it when it is done. */
const kinds = {
  renditions: {
    create: (caller: Caller, jobId: string) =>
      caller.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: around.origin.url('/video.mp4') }, caller.call),
    published: (jobId: string) => around.catalogue.published(jobId),
    folder: 'media',
    files: 6,
  },
  slides: {
    async create(caller: Caller, jobId: string) {
      const sourceObject = `upload/${jobId}.pdf`
      const { bytes } = await around.storage.put(sourceObject, Buffer.from('the bytes of a file'))
      const request = { jobId, presentationId: `9${jobId}`, organisationId: '1', sourceObject, sourceBytes: bytes }
      await caller.jobs.createSlideJob(request, caller.call)
    },
    published: (jobId: string) => around.catalogue.slides(jobId),
    folder: 'slides',
    files: 5,
  },
}

const slidePoints: CrashPoint[] = ['publish-undecided', 'publish-recorded', 'report-sent']

test.each([...points.map((point) => [point, 'renditions'] as const), ...slidePoints.map((point) => [point, 'slides'] as const)])(
  'a service that dies at %s of %s goes on where it was after its next start',
  async (point, kind) => {
    const { create, published, folder, files } = kinds[kind]
    const jobId = String(nextJob++)
    const dying = await startServiceProcess(around, { VITASCOPE_CRASH_AT: point })
    const before = openCaller(dying.address)
    await create(before, jobId)
    const work = async (caller: typeof before) => {
      const worker = standInWorker(caller, around.storage, 'worker-1:a')
      while ((await caller.job(jobId)).state !== JobState.JOB_STATE_OK) {
        const { task } = await caller.work.leaseTask(anAsk({ workerId: 'worker-1:a', waitSeconds: 3 }), caller.call)
        if (!task) continue
        const result = await worker.make(task)
        // The answer of the service that dies is lost: it is told again to the next one.
        await worker.complete(task, result).catch(async (error: unknown) => {
          if (caller === before) unanswered = { task, result }
          throw error
        })
      }
    }
    let unanswered: { task: Parameters<ReturnType<typeof standInWorker>['complete']>[0]; result: unknown } | undefined
    await work(before).catch(() => {})
    expect(await dying.exited).toBe('SIGKILL')
    before.close()

    const next = await startServiceProcess(around)
    const after = openCaller(next.address)
    if (unanswered) await standInWorker(after, around.storage, 'worker-1:a').complete(unanswered.task, unanswered.result)
    await work(after)
    const set = await waitFor(() => published(jobId)[0], { describe: 'the set to be reported' })
    await waitFor(async () => (await around.db.query('select 1 from outbox')).length === 0)
    expect(new Set(published(jobId).map((one) => one.prefix)).size).toBe(1)
    await waitFor(async () => (await around.objects(`work/${jobId}`)).length === 0)
    const sources = folder === 'media' ? 1 : 0
    await waitFor(async () => (await around.objects(`source/${jobId}`)).length === sources)
    expect(await around.objects(`${folder}/9${jobId}`)).toHaveLength(files)
    expect((await around.objects(set.prefix)).length).toBe(files)
    // A lost fetch is a fault of ours; nothing else that happens here is one.
    expect((await after.job(jobId)).attempt).toBe(point === 'fetch-began' || point === 'fetch-stored' ? 2 : 1)
    after.close()
  },
)
