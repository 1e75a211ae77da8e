import { expect } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { waitFor } from '@vitascope/testing'
import type { TaskResult } from '../src/task/task.ts'
import { ProcessEnded, startServiceProcess } from './running-process.ts'
import { type Caller, openCaller, type TestEnvironment } from './service-under-test.ts'
import { createStandInWorker, leaseRequest } from './stand-in-worker.ts'

/** A job to create, and the objects that must remain when it is complete. */
export interface CompletableJob {
  create(caller: Caller, jobId: string): Promise<unknown>
  published(jobId: string): readonly { prefix: string }[]
  /** Folder of its objects. */
  folder: string
  files: number
  /** Number of sources that are kept. */
  sources: number
}

/** Returns a rendition job with a source of the origin, and a slides job with an upload. */
export function completableJobs(environment: TestEnvironment): Record<'renditions' | 'slides', CompletableJob> {
  return {
    renditions: {
      create: (caller, jobId) =>
        caller.jobs.createJob(
          { jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: environment.origin.url('/video.mp4') },
          caller.call,
        ),
      published: (jobId) => environment.catalogue.published(jobId),
      folder: 'media',
      files: 6,
      sources: 1,
    },
    slides: {
      async create(caller, jobId) {
        const sourceObject = `upload/${jobId}.pdf`
        const { bytes } = await environment.storage.put(sourceObject, Buffer.from('the bytes of a file'))
        const request = { jobId, presentationId: `9${jobId}`, organisationId: '1', sourceObject, sourceBytes: bytes }
        await caller.jobs.createSlideJob(request, caller.call)
      },
      published: (jobId) => environment.catalogue.slides(jobId),
      folder: 'slides',
      files: 5,
      sources: 0,
    },
  }
}

/**
 * Runs a job with a service that crashes at a crash point (`crashAt`), and then with another
 * service. The job must produce one complete set and no other objects. Returns the number of
 * attempts and whether the first service crashed.
 */
export async function runUntilComplete(
  environment: TestEnvironment,
  kind: CompletableJob,
  jobId: string,
  crashAt: string,
): Promise<{ attempt: number; died: boolean }> {
  const { create, published, folder, files, sources } = kind
  const { isCreated, died, lostResult } = await runUntilCrash(environment, kind, jobId, crashAt)

  const next = await startServiceProcess(environment)
  const after = openCaller(next.address)
  if (!isCreated) await create(after, jobId)
  if (lostResult) await createStandInWorker(after, environment.storage, 'worker-1:a').complete(lostResult.task, lostResult.result)
  await workUntilDone(environment, after, jobId)
  const set = await waitFor(() => published(jobId)[0], { describe: 'the set to be reported' })
  await waitUntilReported(environment)
  expect(new Set(published(jobId).map((one) => one.prefix)).size).toBe(1)
  await waitFor(async () => (await environment.objects(`work/${jobId}`)).length === 0)
  await waitFor(async () => (await environment.objects(`source/${jobId}`)).length === sources)
  expect(await environment.objects(`${folder}/9${jobId}`)).toHaveLength(files)
  expect((await environment.objects(set.prefix)).length).toBe(files)
  const { attempt } = await after.job(jobId)
  after.close()
  return { attempt, died }
}

interface CrashedRun {
  isCreated: boolean
  died: boolean
  lostResult: LostResult | undefined
}

/**
 * A result that a crashed service may not have stored. The worker reports it to the next service.
 */
interface LostResult {
  task: Parameters<ReturnType<typeof createStandInWorker>['complete']>[0]
  result: TaskResult
}

/**
 * Starts a service and creates the job. Returns when the service has crashed or the job is
 * complete.
 */
async function runUntilCrash(
  environment: TestEnvironment,
  { create }: CompletableJob,
  jobId: string,
  crashAt: string,
): Promise<CrashedRun> {
  const service = await startServiceProcess(environment, { VITASCOPE_CRASH_AT: crashAt }).catch((error: unknown) => {
    // On a slow machine, a loop of the service changes the database before the service listens.
    if (error instanceof ProcessEnded) return undefined
    throw error
  })
  if (!service) return { isCreated: false, died: true, lostResult: undefined }
  const caller = openCaller(service.address)
  let lostResult: LostResult | undefined
  const isCreated = await create(caller, jobId).then(returnTrue, returnFalse)
  const isDone = await workUntilDone(environment, caller, jobId, (lost) => (lostResult = lost)).then(returnTrue, returnFalse)
  // The report to the catalogue follows the last result.
  const died = !isDone || (await Promise.race([service.exited.then(returnTrue), waitUntilReported(environment).then(returnFalse)]))
  if (!died) service.kill('SIGKILL')
  expect(await service.exited).toBe('SIGKILL')
  caller.close()
  return { isCreated, died, lostResult }
}

/**
 * Works on tasks until the job is complete. Throws if the service crashes, after `onLost` with the
 * result that it may have lost.
 */
async function workUntilDone(
  environment: TestEnvironment,
  caller: Caller,
  jobId: string,
  onLost: (lost: LostResult) => void = () => {},
): Promise<void> {
  const worker = createStandInWorker(caller, environment.storage, 'worker-1:a')
  while ((await caller.job(jobId)).state !== JobState.JOB_STATE_OK) {
    const { task } = await caller.work.leaseTask(leaseRequest({ workerId: 'worker-1:a', waitSeconds: 3 }), caller.call)
    if (!task) continue
    const result = await worker.make(task)
    await worker.complete(task, result).catch((error: unknown) => {
      onLost({ task, result })
      throw error
    })
  }
}

const waitUntilReported = (environment: TestEnvironment) =>
  waitFor(async () => (await environment.db.query('select 1 from outbox')).length === 0)
const returnTrue = () => true
const returnFalse = () => false
