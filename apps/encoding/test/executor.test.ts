import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { V1Job } from '@kubernetes/client-node'
import { planVersion } from '@vitascope/media'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { ChunkState, TaskKind } from '@vitascope/proto/encoding/v1/work'
import { waitFor } from '@vitascope/testing'
import type { KubernetesSettings } from '../src/kubernetes/executor-config.ts'
import { DEFAULT_KINDS } from '../src/worker/run-task.ts'
import { kubernetesSettings } from './kubernetes-settings.ts'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'
import { type StandInKubernetes, startKubernetes } from './stand-in-kubernetes.ts'
import { buildLongProbe, createStandInWorker, leaseRequest, requireInput } from './stand-in-worker.ts'

let environment: TestEnvironment
let cluster: StandInKubernetes
let service: Awaited<ReturnType<typeof startInProcess>>
let worker: ReturnType<typeof createStandInWorker>
let nextJob = 1
let jobId: string

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
})
beforeEach(async () => {
  await environment.db.query('truncate outbox, job, chunk, segment, object_prefix, worker, work_item, chunk_run')
  cluster = await startKubernetes(environment.folder)
  service = await startInProcess(environment, { kubernetes: kubernetesSettings({ kubeconfig: cluster.kubeconfig, owner: 'vitascope' }) })
  worker = createStandInWorker(service, environment.storage, 'w1:a')
  jobId = String(nextJob++)
})
afterEach(async () => {
  await service.stop()
  await cluster.stop()
})
afterAll(() => environment.close())

/** Creates a job of 20 s: three video chunks, and audio, which is encoded at once. */
async function createJob(lowPriority = false): Promise<void> {
  const sourceUrl = environment.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl, lowPriority }, service.call)
  await worker.complete(await worker.lease(), buildLongProbe())
  await worker.runNextTask()
}
const waitForJob = (count = 1): Promise<V1Job> =>
  waitFor(() => (cluster.created.length < count ? undefined : cluster.jobs.get(cluster.created.at(-1) ?? '')), {
    describe: `${count} Jobs to be created`,
  })
const getName = (job: V1Job) => String(job.metadata?.name)
const env = (job: V1Job) => Object.fromEntries((job.spec?.template.spec?.containers[0]?.env ?? []).map(({ name, value }) => [name, value]))
const failJob = (job: V1Job, status: { failedIndexes?: string; reason?: string; type?: string }) =>
  cluster.setStatus(getName(job), {
    conditions: [{ type: status.type ?? 'Failed', status: 'True', reason: status.reason ?? 'FailedIndexes' }],
    ...(status.failedIndexes !== undefined && { failedIndexes: status.failedIndexes }),
  })
const readFaults = async () =>
  (await environment.db.query<{ faults: number }>('select faults from chunk where job_id = $1 order by chunk', [jobId])).map(
    (row) => row.faults,
  )
/** Waits until a chunk has a fault. Returns the number of faults of each chunk. */
const waitForFaults = () =>
  waitFor(
    async () => {
      const faults = await readFaults()
      return faults.some((count) => count > 0) && faults
    },
    { describe: 'a fault of a chunk' },
  )
/** Leases a chunk as its pod does. */
const leaseChunk = (chunk: number, overrides: { workerId?: string; planVersion?: number; anyChunk?: boolean; requestId?: string } = {}) =>
  service.work.leaseChunk(
    { workerId: `pod-${chunk}:a`, requestId: '', waitSeconds: 0, jobId, chunk, planVersion, anyChunk: false, ...overrides },
    service.call,
  )
async function encodeChunk(chunk: number): Promise<void> {
  const { task } = await leaseChunk(chunk)
  if (!task) throw new Error(`chunk ${chunk} cannot be leased`)
  await worker.complete(task, await worker.make(task))
}

test('the video chunks are encoded by one Kubernetes Job, and all other tasks by workers', async () => {
  await createJob()
  const job = await waitForJob()
  expect(job.spec).toMatchObject({ completionMode: 'Indexed', completions: 3, parallelism: 3 })
  expect(job.metadata?.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'ConfigMap', name: 'vitascope', uid: 'owner-uid' }])
  expect(env(job)).toMatchObject({ VITASCOPE_WORKER_RUN: getName(job), VITASCOPE_WORKER_JOB: jobId, VITASCOPE_WORKER_CHUNKS: '0,1,2' })
  expect((await service.work.leaseTask(leaseRequest({ workerId: 'w1:a', kinds: DEFAULT_KINDS }), service.call)).task).toBeUndefined()
  for (const chunk of [2, 0, 1]) await encodeChunk(chunk)
  const last = await worker.lease()
  expect(last.kind).toBe(TaskKind.TASK_KIND_PACKAGE)
  await waitFor(() => cluster.jobs.size === 0, { describe: 'the Job to be removed' })
  await worker.complete(last, await worker.make(last))
  await waitFor(() => environment.catalogue.published(jobId).length === 1)
  expect(cluster.created).toHaveLength(1)
})

test('the state of a chunk is leased, waiting while another pod holds it, done, or obsolete', async () => {
  await createJob()
  const first = await leaseChunk(0)
  expect(first).toMatchObject({ state: ChunkState.CHUNK_STATE_LEASED, task: { kind: TaskKind.TASK_KIND_ENCODE } })
  expect((await leaseChunk(0, { workerId: 'pod-9:a' })).state).toBe(ChunkState.CHUNK_STATE_WAITING)
  // A new pod of the same index gets the lease at once.
  const second = await leaseChunk(0, { workerId: 'pod-0:b' })
  expect(second.state).toBe(ChunkState.CHUNK_STATE_LEASED)
  expect(second.task?.fence).toBeGreaterThan(first.task?.fence ?? 0)
  if (second.task) await worker.complete(second.task, await worker.make(second.task))
  expect((await leaseChunk(0, { workerId: 'pod-0:b' })).state).toBe(ChunkState.CHUNK_STATE_DONE)
  await service.jobs.cancelJob({ jobId }, service.call)
  expect((await leaseChunk(1)).state).toBe(ChunkState.CHUNK_STATE_OBSOLETE)
})

test('a pod leases chunks until none is left', async () => {
  await service.stop()
  service = await startInProcess(environment, { kubernetes: kubernetesSettings({ kubeconfig: cluster.kubeconfig, parallelism: 2 }) })
  worker = createStandInWorker(service, environment.storage, 'w1:b')
  await createJob()
  const job = await waitForJob()
  expect(job.spec).toMatchObject({ completions: 2, parallelism: 2 })
  expect(env(job)['VITASCOPE_WORKER_CHUNKS']).toBe('0,1')
  const leaseAnyChunk = async (chunk: number, name?: string) => {
    const { state, task } = await leaseChunk(chunk, { anyChunk: true, ...(name !== undefined && { requestId: name }) })
    return { state, task, chunk: task && requireInput(task, 'encode').chunk }
  }
  const [first, second] = [await leaseAnyChunk(0), await leaseAnyChunk(1)]
  expect([first.chunk, second.chunk]).toEqual([0, 1])
  if (second.task) await worker.complete(second.task, await worker.make(second.task))
  const third = await leaseAnyChunk(1, 'third')
  expect(third.chunk).toBe(2)
  // The response was lost. The repeated request returns the same chunk.
  expect(await leaseAnyChunk(1, 'third')).toEqual(third)
  if (first.task) await worker.complete(first.task, await worker.make(first.task))
  expect((await leaseAnyChunk(0)).state).toBe(ChunkState.CHUNK_STATE_ALL_LEASED)
  if (third.task) await worker.release(third.task)
  const releasedChunk = await leaseAnyChunk(0)
  expect(releasedChunk.chunk).toBe(2)
  if (releasedChunk.task) await worker.complete(releasedChunk.task, await worker.make(releasedChunk.task))
  expect((await leaseAnyChunk(0)).state).toBe(ChunkState.CHUNK_STATE_DONE)
})

test('ended Jobs are counted by outcome, from zero', async () => {
  const readEnded = async () => {
    const text = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text()
    const lines = text.matchAll(/^vitascope_encoding_kubernetes_jobs_ended_total\{.*outcome="(\w+)".*\} (\d+)$/gm)
    return Object.fromEntries([...lines].map(([, outcome, count]) => [outcome, Number(count)]))
  }
  const none = { FailedIndexes: 0, MaxFailedIndexesExceeded: 0, DeadlineExceeded: 0, stalled: 0, complete: 0 }
  expect(await readEnded()).toEqual(none)
  await createJob()
  failJob(await waitForJob(), { failedIndexes: '0' })
  await waitForJob(2)
  expect(await readEnded()).toEqual({ ...none, FailedIndexes: 1 })
})

test('a Kubernetes Job is created once after a lost response, and again after its removal', async () => {
  cluster.loseNextResponse()
  await createJob()
  const job = await waitForJob()
  await waitFor(() => cluster.watches() > 0)
  cluster.drop(getName(job))
  await waitFor(() => cluster.created.length === 2, { describe: 'the Job to be created again' })
  expect(cluster.created).toEqual([getName(job), getName(job)])
})

test('replaces a Kubernetes Job of another run with the same name', async () => {
  // After a restore, the database issues the same numbers again.
  await environment.db.query('alter sequence chunk_run_run_id_seq restart with 700000')
  const name = `vitascope-encode-${jobId}-700000`
  cluster.put({ metadata: { name, annotations: { 'vitascope/chunks': '7' } } })
  await createJob()
  await waitFor(() => cluster.created.includes(name), { describe: 'the Job to be replaced' })
  expect(cluster.jobs.get(name)?.metadata?.annotations).toMatchObject({ 'vitascope/chunks': '0,1,2' })
})

test('cancelling a job removes its Kubernetes Job', async () => {
  await createJob()
  await waitForJob()
  await service.jobs.cancelJob({ jobId }, service.call)
  await waitFor(() => cluster.jobs.size === 0, { describe: 'the Job to be removed' })
  // The executor handles jobs in order. When it creates this one, it has not created the cancelled one again.
  jobId = String(nextJob++)
  await createJob()
  expect((await waitForJob(2)).metadata?.labels).toMatchObject({ 'vitascope/job': jobId })
  expect(cluster.jobs.size).toBe(1)
})

test('a failed index counts as an attempt of its chunk; after three attempts the job fails', async () => {
  await createJob()
  const first = await waitForJob()
  await encodeChunk(1)
  failJob(first, { failedIndexes: '2' })
  const second = await waitForJob(2)
  expect(getName(second)).not.toBe(getName(first))
  expect(env(second)['VITASCOPE_WORKER_CHUNKS']).toBe('0,2')
  expect(await waitForFaults()).toEqual([0, 0, 1, 0])
  failJob(second, { failedIndexes: '1' })
  failJob(await waitForJob(3), { failedIndexes: '0-1' })
  await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_FAILED, { describe: 'the job to have failed' })
  expect(await service.job(jobId)).toMatchObject({ code: 5001 })
  await waitFor(() => cluster.jobs.size === 0, { describe: 'the last Job to be removed' })
})

test('a Kubernetes Job with FailureTarget is replaced without waiting for its pods', async () => {
  await createJob()
  failJob(await waitForJob(), { type: 'FailureTarget', failedIndexes: '1' })
  await waitForJob(2)
  expect(await waitForFaults()).toEqual([0, 1, 0, 0])
})

test('a deadline counts as an attempt of started chunks only', async () => {
  await createJob()
  const first = await waitForJob()
  const { task } = await leaseChunk(0)
  if (task) await worker.release(task)
  failJob(first, { reason: 'DeadlineExceeded' })
  expect(env(await waitForJob(2))['VITASCOPE_WORKER_CHUNKS']).toBe('0,1,2')
  expect(await waitForFaults()).toEqual([1, 0, 0, 0])
})

test.each<[string, () => void]>([
  ['was interrupted', () => cluster.cutWatches()],
  ['is too old', () => cluster.compact()],
  [
    'was lost in an outage of the server',
    () => {
      cluster.stopResponses()
      cluster.resumeResponses()
    },
  ],
])('handles changes that happened while a watch %s', async (_, fault) => {
  await createJob()
  const job = await waitForJob()
  await waitFor(() => cluster.watches() > 0, { describe: 'a watch' })
  fault()
  failJob(job, { failedIndexes: '0' })
  await waitForJob(2)
  expect(await waitForFaults()).toEqual([1, 0, 0, 0])
})

test('during an outage of the API server, pods continue; new Kubernetes Jobs are created afterwards', async () => {
  await createJob()
  await waitForJob()
  cluster.stopResponses()
  await encodeChunk(0)
  const former = jobId
  jobId = String(nextJob++)
  await createJob()
  await waitFor(async () => (await environment.db.query('select 1 from chunk_run where job_id = $1', [jobId])).length === 1)
  expect(cluster.created).toHaveLength(1)
  cluster.resumeResponses()
  const job = await waitForJob(2)
  expect(job.metadata?.labels).toMatchObject({ 'vitascope/job': jobId })
  expect([...cluster.jobs.values()].map(({ metadata }) => metadata?.labels?.['vitascope/job'])).toEqual([former, jobId])
})

test('pods of an older release get no chunk and are replaced', async () => {
  await createJob()
  await waitForJob()
  expect((await leaseChunk(0, { planVersion: planVersion - 1 })).state).toBe(ChunkState.CHUNK_STATE_OBSOLETE)
  await waitForJob(2)
  await waitFor(() => cluster.jobs.size === 1, { describe: 'the first Job to be removed' })
  expect(await readFaults()).toEqual([0, 0, 0, 0])
})

test('a release replaces a queued Kubernetes Job and keeps an admitted one', async () => {
  const { kubeconfig } = cluster
  const restart = async (overrides: Partial<KubernetesSettings>) => {
    await service.stop()
    service = await startInProcess(environment, { kubernetes: kubernetesSettings({ kubeconfig, queue: 'encodes', ...overrides }) })
    worker = createStandInWorker(service, environment.storage, 'w1:c')
  }
  await restart({})
  await createJob()
  const running = await waitForJob()
  cluster.put({ ...running, spec: { template: {}, ...running.spec, suspend: false }, status: { startTime: new Date() } })
  // One of its chunks stays leased, so that the Job is not considered stale.
  expect((await leaseChunk(0)).task).toBeDefined()
  await environment.db.query(`update work_item set lease_end = now() + interval '1 hour' where state = 'leased'`)
  jobId = String(nextJob++)
  await createJob()
  const waiting = await waitForJob(2)
  const { template } = kubernetesSettings()
  const image = 'vitascope/encoding@sha256:next'
  const containers = template.spec.containers.map((container) => ({ ...container, image }))
  await restart({ template: { ...template, spec: { ...template.spec, containers } }, stallSeconds: 0.5 })
  const recreated = await waitForJob(3)
  expect(cluster.created).toEqual([running, waiting, waiting].map(getName))
  expect(recreated.spec).toMatchObject({ suspend: true, template: { spec: { containers: [{ image }] } } })
  expect(env(recreated)).toEqual(env(waiting))
  // The Job was created with the current settings, so it is not replaced again.
  jobId = String(nextJob++)
  await createJob()
  await waitForJob(4)
  expect(cluster.jobs.has(getName(running))).toBe(true)
  expect(cluster.created.slice(0, 3)).toEqual([running, waiting, waiting].map(getName))
})

test('no Kubernetes Job is created for a low-priority job while a normal job has open chunks', async () => {
  const [earlier, normal, low] = [jobId, String(nextJob++), String(nextJob++)]
  await createJob(true)
  const first = await waitForJob()
  jobId = normal
  await createJob()
  const second = await waitForJob(2)
  const tasks = [(await leaseChunk(0)).task, (await leaseChunk(1)).task, (await leaseChunk(2)).task]
  jobId = low
  await createJob(true)
  const runs = () => environment.db.query('select 1 from chunk_run where job_id = $1 and end_time is null', [low])
  await waitFor(async () => (await runs()).length === 1, { describe: 'a run of the low-priority job' })
  // The Job of the normal job is removed and created again twice. When the executor creates it the
  // second time, it has seen the run of the low-priority job.
  cluster.drop(getName(second))
  await waitForJob(3)
  cluster.drop(getName(second))
  await waitForJob(4)
  expect(cluster.created).toEqual([first, second, second, second].map(getName))
  expect([...cluster.jobs.values()].map(({ metadata }) => metadata?.labels?.['vitascope/job'])).toEqual([earlier, normal])
  for (const task of tasks) if (task) await worker.complete(task, await worker.make(task))
  expect((await waitForJob(5)).metadata?.labels?.['vitascope/job']).toBe(low)
})
