import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { V1Job } from '@kubernetes/client-node'
import { type EncodePlan, planVersion } from '@vitascope/media'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { ChunkState, type LeaseChunkResponse, type Task } from '@vitascope/proto/encoding/v1/work'
import { seededRandom, waitFor } from '@vitascope/testing'
import { kubernetesSettings } from './kubernetes-settings.ts'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'
import { type StandInKubernetes, startKubernetes } from './stand-in-kubernetes.ts'
import { buildLongProbe, createStandInWorker, requireInput, segmentNumbers, segmentPath } from './stand-in-worker.ts'

// Viewers can watch a video that is being encoded up to its first gap. All pods of a Job therefore
// encode the lowest chunks first.

const PODS = [0, 1, 2]
const SECONDS = 120

let environment: TestEnvironment
let cluster: StandInKubernetes
let service: Awaited<ReturnType<typeof startInProcess>>
let worker: ReturnType<typeof createStandInWorker>
let jobId = '0'
let plan: EncodePlan
let job: V1Job

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
  cluster = await startKubernetes(environment.folder)
  service = await startInProcess(environment, {
    kubernetes: kubernetesSettings({ kubeconfig: cluster.kubeconfig, parallelism: PODS.length }),
  })
  worker = createStandInWorker(service, environment.storage, 'w1:a')
})
beforeEach(async () => {
  jobId = String(Number(jobId) + 1)
  const sourceUrl = environment.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl }, service.call)
  await worker.complete(await worker.lease(), buildLongProbe(SECONDS))
  // Encodes the audio.
  await worker.runNextTask()
  const [row] = await environment.db.query<{ plan: EncodePlan }>('select plan from job where job_id = $1', [jobId])
  if (!row) throw new Error('there is no plan')
  plan = row.plan
  job = await waitFor(() => [...cluster.jobs.values()].find(({ metadata }) => metadata?.labels?.['vitascope/job'] === jobId), {
    describe: 'the Job',
  })
})
afterEach(async () => {
  // The outbox first: a message holds its row while its handler changes the job.
  await environment.db.query('truncate outbox, job, chunk, segment, object_prefix, worker, work_item, chunk_run')
  await waitFor(() => cluster.jobs.size === 0, { describe: 'the Job to be removed' })
})
afterAll(async () => {
  await service?.stop()
  await cluster?.stop()
  await environment?.close()
})

interface LeasedChunk {
  task: Task
  chunk: number
}

/** Leases a chunk as a pod of an index does; `restarts` is the number of its restarts. */
async function requestChunk(index: number, restarts = 0): Promise<{ state: ChunkState; lease?: LeasedChunk }> {
  const first = job.spec?.template.spec?.containers[0]?.env?.find(({ name }) => name === 'VITASCOPE_WORKER_CHUNKS')?.value?.split(',')
  const request = {
    workerId: `pod-${index}:${restarts}`,
    requestId: '',
    waitSeconds: 5,
    jobId,
    chunk: Number(first?.[index]),
    planVersion,
    anyChunk: true,
  }
  const { state, task }: LeaseChunkResponse = await service.work.leaseChunk(request, service.call)
  return { state, ...(task && { lease: { task, chunk: requireInput(task, 'encode').chunk } }) }
}
async function leaseChunk(index: number, restarts?: number): Promise<LeasedChunk> {
  const { state, lease } = await requestChunk(index, restarts)
  if (!lease) throw new Error(`pod ${index} got no chunk: ${state}`)
  return lease
}
const complete = async ({ task }: LeasedChunk) => worker.complete(task, await worker.make(task))
/** Returns the number of segments of each rendition that a viewer can play. */
async function countPlayable(): Promise<number[]> {
  const tracks = plan.renditions.flatMap(({ key, video }) => (video ? [key] : []))
  const playlists = tracks.map((key) =>
    service.previewPlaylists.getPreviewTrackPlaylist({ jobId, key }, service.call).then(({ playlist }) => playlist),
  )
  return (await Promise.all(playlists)).map((playlist) => playlist.match(/^#EXTINF/gm)?.length ?? 0)
}
/** Returns the number of segments of all chunks before this one. */
const countSegmentsBefore = (chunk: number) => (plan.chunks[chunk]?.firstSegment ?? 1 + SECONDS / 4) - 1
async function waitUntilPublished(): Promise<void> {
  await worker.runNextTask()
  await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_OK, { describe: 'the job to succeed' })
  await waitFor(() => environment.catalogue.published(jobId).length === 1, { describe: 'the set to be published' })
}

test('three pods lease the lowest waiting chunks, and all of their segments can be watched', async () => {
  expect(job.spec).toMatchObject({ completions: 3, parallelism: 3 })
  expect(plan.chunks.length).toBeGreaterThanOrEqual(8)
  // Concurrent requests get different chunks without waiting.
  const first = await Promise.all(PODS.map((index) => leaseChunk(index)))
  expect(first.map(({ chunk }) => chunk).sort()).toEqual([0, 1, 2])
  const holders = first.sort((a, b) => a.chunk - b.chunk)
  const findHolder = (chunk: number) => holders.findIndex((lease) => lease.chunk === chunk)
  const leaseOrder = [0, 1, 2]
  const completeAndLease = async (chunk: number) => {
    const index = findHolder(chunk)
    const lease = holders[index]
    if (!lease) throw new Error(`no pod holds chunk ${chunk}`)
    await complete(lease)
    const { lease: nextLease } = await requestChunk(index)
    if (nextLease) leaseOrder.push(nextLease.chunk)
    holders[index] = nextLease ?? { ...lease, chunk: -1 }
  }
  await completeAndLease(0)
  expect(await countPlayable()).toEqual(plan.renditions.filter(({ video }) => video).map(() => countSegmentsBefore(1)))
  // Segments after the gap are not shown.
  await completeAndLease(2)
  expect(new Set(await countPlayable())).toEqual(new Set([countSegmentsBefore(1)]))
  const received = holders[findHolder(1)]
  if (!received) throw new Error('no pod holds chunk 1')
  for (const { key, video } of plan.renditions)
    if (video) {
      await worker.addSegment(received.task, `${key}/init.mp4`, 0)
      await worker.addSegment(received.task, segmentPath(key, segmentNumbers(plan, 1)[0] ?? 0), 4)
    }
  expect(new Set(await countPlayable())).toEqual(new Set([countSegmentsBefore(1) + 1]))
  await completeAndLease(1)
  expect(new Set(await countPlayable())).toEqual(new Set([countSegmentsBefore(3)]))
  // From here on the lowest chunk is slow, and the others continue after it.
  for (let chunk = 4; chunk < plan.chunks.length; chunk++) {
    await completeAndLease(chunk)
    expect(new Set(await countPlayable())).toEqual(new Set([countSegmentsBefore(3)]))
  }
  await completeAndLease(3)
  expect(new Set(await countPlayable())).toEqual(new Set([SECONDS / 4]))
  expect(leaseOrder).toEqual(plan.chunks.map(({ index }) => index))
  await waitUntilPublished()
})

test('a pod leases the next chunk when its own is complete, and the chunk of a killed pod is encoded first', async () => {
  const [a, b] = [await leaseChunk(2), await leaseChunk(1)]
  expect([a.chunk, b.chunk]).toEqual([0, 1])
  await complete(a)
  await complete(b)
  const c = await leaseChunk(0)
  expect(c.chunk).toBe(2)
  const d = await leaseChunk(1)
  expect(d.chunk).toBe(3)
  // The next pod of an index replaces it at once. The chunk has precedence as soon as it is due
  // again.
  const after = await leaseChunk(0, 1)
  expect([2, 4]).toContain(after.chunk)
  await expect(complete(c)).rejects.toMatchObject({ reason: 'LEASE_LOST' })
  await waitFor(async () => (await dueChunks()).includes(2) || after.chunk === 2, { describe: 'the chunk of the killed pod to be due' })
  if (after.chunk !== 2) expect((await leaseChunk(2)).chunk).toBe(2)
  await service.work.releaseTask({ taskId: d.task.taskId, fence: d.task.fence }, service.call)
  const leases = [await leaseChunk(1)]
  expect(leases[0]?.chunk).toBe(3)
  for (let waiting = await waitingChunks(); waiting.length > 0; waiting = await waitingChunks()) leases.push(await leaseChunk(1))
  for (const index of PODS) expect((await requestChunk(index, index === 0 ? 1 : 0)).state).toBe(ChunkState.CHUNK_STATE_ALL_LEASED)
})

const waitingChunks = async () => (await findChunks("state = 'waiting'")).map(({ chunk }) => chunk)
const dueChunks = async () => (await findChunks("state = 'waiting' and due_time <= now()")).map(({ chunk }) => chunk)
const findChunks = (where: string) =>
  environment.db.query<{ chunk: number }>(
    `select (payload->>'chunk')::int as chunk from work_item where key = $1 and kind = 'encode' and ${where} order by chunk`,
    [`job:${jobId}`],
  )

interface Pod {
  index: number
  restarts: number
  lease?: LeasedChunk
  hasEnded: boolean
}

/** Number of pods of an index until the index has failed. */
const MAX_PODS_PER_INDEX = 3
/** Number of attempts of a chunk until the job has failed. */
const MAX_ATTEMPTS = 3

test.each([1, 2, 3, 4, 5, 6])('the job completes with the lowest chunks first, while pods are killed at random (seed %i)', async (seed) => {
  const random = seededRandom(seed)
  const pods: Pod[] = PODS.map((index) => ({ index, restarts: 0, hasEnded: false }))
  const kills = new Map<number, number>()
  const lost: LeasedChunk[] = []
  const fences = new Map<number, number>()
  const actions: Readonly<Record<string, (pod: Pod, lease: LeasedChunk) => Promise<void>>> = {
    async complete(pod, lease) {
      await complete(lease)
      expect(fences.has(lease.chunk)).toBe(false)
      fences.set(lease.chunk, lease.task.fence)
      delete pod.lease
    },
    async release(pod, { task }) {
      await worker.release(task)
      delete pod.lease
    },
    /** Kills the pod. The next pod of its index sends a request some time later. */
    async kill(pod, lease) {
      if (pod.restarts + 1 === MAX_PODS_PER_INDEX || (kills.get(lease.chunk) ?? 0) + 1 === MAX_ATTEMPTS) return
      kills.set(lease.chunk, (kills.get(lease.chunk) ?? 0) + 1)
      if (random() < 0.5) {
        await environment.db.query("update work_item set lease_end = now() - interval '1 second' where item_id = $1", [lease.task.taskId])
        await waitFor(async () => (await waitingChunks()).includes(lease.chunk), { describe: 'the lease to expire' })
      }
      lost.push(lease)
      pod.restarts++
      delete pod.lease
    },
  }
  while (pods.some(({ hasEnded }) => !hasEnded)) {
    const due = await dueChunks()
    const idle = pods.filter(({ lease, hasEnded }) => !lease && !hasEnded && random() < 0.7)
    const responses = await Promise.all(idle.map(({ index, restarts }) => requestChunk(index, restarts)))
    for (const [index, { state, lease }] of responses.entries()) {
      const pod = idle[index]
      if (pod && lease) pod.lease = lease
      else if (pod) pod.hasEnded = state !== ChunkState.CHUNK_STATE_WAITING
      expect(state).not.toBe(ChunkState.CHUNK_STATE_OBSOLETE)
    }
    const leasedNow = responses.flatMap(({ lease }) => lease?.chunk ?? [])
    const leasedChunks = pods.flatMap(({ lease }) => lease?.chunk ?? [])
    expect(new Set(leasedChunks).size).toBe(leasedChunks.length)
    for (const unleased of due.filter((chunk) => !leasedNow.includes(chunk))) expect(Math.max(-1, ...leasedNow)).toBeLessThan(unleased)
    const pod = pods[Math.floor(random() * pods.length)]
    const action = ['complete', 'complete', 'complete', 'kill', 'kill', 'release'][Math.floor(random() * 6)] ?? ''
    if (pod?.lease) await actions[action]?.(pod, pod.lease)
  }
  for (const lease of lost) await expect(complete(lease)).rejects.toMatchObject({ reason: 'LEASE_LOST' })
  const chunks = await environment.db.query<{ chunk: number; fence: number }>(
    'select chunk, fence::float8 as fence from chunk where job_id = $1 and chunk < $2 order by chunk',
    [jobId, plan.chunks.length],
  )
  expect(chunks).toEqual(plan.chunks.map(({ index }) => ({ chunk: index, fence: fences.get(index) })))
  expect(lost.length).toBeGreaterThan(0)
  await waitUntilPublished()
})
