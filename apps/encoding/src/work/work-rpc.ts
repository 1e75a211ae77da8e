import { DomainError, type FieldError, invalid, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { planVersion } from '@vitascope/media'
import type { Db } from '@vitascope/postgres'
import { requireService } from '@vitascope/principal'
import { ChunkState, TaskKind as KindCode, type SegmentFile, type Task, type WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import type { Lease, LeasedItem, LeaseRequest, Queue } from '@vitascope/queue'
import { isId } from '@vitascope/request'
import { isObjectName } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import type { CrashPointHook } from '../common/crash-point.ts'
import type { TaskResults } from '../engine/task-results.ts'
import type { TaskSteps } from '../engine/task-steps.ts'
import { toJobId, toQueueKey } from '../job/job.ts'
import { sweepSoon } from '../objects/object-prefix.ts'
import { isOfSource } from '../task/fault.ts'
import { readWorkerTask } from '../task/queued-task.ts'
import { MIN_PRIORITY, type StoredFile, WORKER_KINDS, type WorkerTaskKind } from '../task/task.ts'
import { toInputMessage } from '../task/task-message.ts'
import { findOpenChunkItem, readChunkState } from './chunk-item.ts'
import { inputFor } from './task-input.ts'
import { registerWorker } from './worker-store.ts'

export interface WorkTools {
  db: Db
  queue: Queue
  steps: TaskSteps
  results: TaskResults
  leaseMs: number
  maxSourceSeconds: number
  /** True if video chunks are leased only through `leaseChunk`, by the pods of Kubernetes Jobs. */
  podsEncodeChunks: boolean
  /** Ends the open run of a job, so that the executor replaces its Kubernetes Job. */
  endRunOfJob: (jobId: string) => Promise<void>
  atCrashPoint: CrashPointHook
  log: Logger
  /** Aborts when this service stops. It ends all waits for work. */
  stopping: AbortSignal
}

const MAX_WAIT_SECONDS = 20
const MAX_FILES = 5_000
/**
 * Interval of the checks whether other pods have leased all chunks, during a wait for any chunk.
 */
const POLL_MS = 1_000
const CODES: Readonly<Record<WorkerTaskKind, KindCode>> = {
  probe: KindCode.TASK_KIND_PROBE,
  encode: KindCode.TASK_KIND_ENCODE,
  audio: KindCode.TASK_KIND_AUDIO,
  package: KindCode.TASK_KIND_PACKAGE,
  slides: KindCode.TASK_KIND_SLIDES,
  poster: KindCode.TASK_KIND_POSTER,
}
/**
 * Low-priority tasks are not leased while one of these waits. Slides and posters are
 * excluded, because not every worker supports them.
 */
const PRECEDING_WORK = { priority: MIN_PRIORITY, kinds: WORKER_KINDS.filter((kind) => kind !== 'slides' && kind !== 'poster') }
/** Kinds of tasks for a worker that sends no list of kinds. */
const DEFAULT_KINDS: readonly WorkerTaskKind[] = ['probe', 'encode', 'package']

export function workHandlers(tools: WorkTools): Handlers<typeof WorkServiceService> {
  const { db, steps, results, log } = tools
  return {
    async leaseTask(
      { workerId, waitSeconds, requestId, kinds, planVersion: supportedVersion, memoryMib },
      { principal, signal, deadline },
    ) {
      requireService(principal)
      checkRequestId(workerId, requestId)
      await failFormerLeases(tools, workerId)
      const task = await nextTask(
        tools,
        {
          holder: workerId,
          kinds: supportedKinds(kinds, supportedVersion).filter((kind) => kind !== 'encode' || !tools.podsEncodeChunks),
          ...(requestId !== '' && { requestId }),
          ...(memoryMib !== undefined && { capacity: memoryMib }),
          yieldTo: PRECEDING_WORK,
        },
        limitWait(waitSeconds, deadline),
        signal,
      )
      return { task }
    },
    async leaseChunk(
      { workerId, waitSeconds, requestId, jobId, chunk, planVersion: supportedVersion, anyChunk },
      { principal, signal, deadline },
    ) {
      requireService(principal)
      checkRequestId(workerId, requestId)
      if (!isId(jobId)) throw invalid([{ field: 'job_id', message: 'must be the id of a job' }])
      if (supportedVersion < planVersion) {
        log.info({ job_id: jobId, worker_id: workerId }, 'worker pod has an older release than this service; it will be replaced')
        await tools.endRunOfJob(jobId)
        return { state: ChunkState.CHUNK_STATE_OBSOLETE, task: undefined }
      }
      await failFormerLeases(tools, workerId)
      const request = { holder: workerId, kinds: ['encode'] as const, ...(requestId !== '' && { requestId }) }
      const until = performance.now() + limitWait(waitSeconds, deadline)
      const leftMs = () => Math.max(0, until - performance.now())
      if (!anyChunk) {
        const itemId = await findOpenChunkItem(db.query, jobId, chunk)
        const task = itemId && (await nextTask(tools, { ...request, itemId }, leftMs(), signal))
        if (task) return { state: ChunkState.CHUNK_STATE_LEASED, task }
        return { state: await readChunkState(db.query, jobId, chunk, false), task: undefined }
      }
      for (let waitMs = 0; ; waitMs = Math.min(POLL_MS, leftMs())) {
        // Chunks are queued in order, so this is the first one that is due. Playback of an
        // unfinished video ends at the first missing chunk.
        const task = await nextTask(tools, { ...request, key: toQueueKey(jobId) }, waitMs, signal)
        if (task) return { state: ChunkState.CHUNK_STATE_LEASED, task }
        const state = await readChunkState(db.query, jobId, chunk, true)
        const isOver = leftMs() === 0 || signal.aborted || tools.stopping.aborted
        if (state !== ChunkState.CHUNK_STATE_WAITING || isOver) return { state, task: undefined }
      }
    },
    async extendTaskLease({ taskId, fence, done }, { principal }) {
      requireService(principal)
      if (!(await steps.extendLease(toLease(taskId, fence), Number.isFinite(done) ? done : 0))) throw await leaseLost(db, fence)
      return {}
    },
    async addSegments({ taskId, fence, files }, { principal }) {
      requireService(principal)
      if (files.length < 1 || files.length > MAX_FILES) throw invalid([{ field: 'files', message: `must have 1 to ${MAX_FILES} items` }])
      if (!(await steps.addSegments(toLease(taskId, fence), files.map(toFile)))) throw await leaseLost(db, fence)
      return {}
    },
    async completeTask({ taskId, fence, result }, { principal, signal }) {
      requireService(principal)
      if (!(await results.accept(toLease(taskId, fence), result, signal))) throw await leaseLost(db, fence)
      return {}
    },
    async failTask({ taskId, fence, code, message }, { principal }) {
      requireService(principal)
      if (!isOfSource(code) && !(code >= 5000 && code <= 5999)) throw invalid([{ field: 'code', message: 'must be 4001 to 4005, or 5xxx' }])
      log.warn({ task_id: taskId, fence, code, reason: message }, 'task failed')
      tools.atCrashPoint('fault-undecided')
      if (!(await steps.fault(toLease(taskId, fence), { code, message: message.slice(0, 500) }))) throw await leaseLost(db, fence)
      tools.atCrashPoint('fault-recorded')
      return {}
    },
    async releaseTask({ taskId, fence }, { principal }) {
      requireService(principal)
      if (!(await steps.release(toLease(taskId, fence)))) throw await leaseLost(db, fence)
      return {}
    },
    async releaseRequest({ workerId, requestId }, { principal }) {
      requireService(principal)
      checkRequestId(workerId, requestId)
      if (requestId === '') throw invalid([{ field: 'request_id', message: 'must not be empty' }])
      const item = await tools.queue.leasedByRequest(workerId, requestId)
      if (item) await steps.release(item)
      return {}
    },
  }
}

function checkRequestId(workerId: string, requestId: string): void {
  if (!/^[A-Za-z0-9._:-]{1,200}$/.test(workerId))
    throw invalid([{ field: 'worker_id', message: 'must be 1 to 200 characters of A-Z a-z 0-9 . _ : -' }])
  if (requestId.length > 100) throw invalid([{ field: 'request_id', message: 'must have at most 100 characters' }])
}

/**
 * Returns the time to wait for work, in milliseconds. The response must arrive before the caller's
 * deadline. Otherwise the task would be leased, and no worker would run it.
 */
function limitWait(waitSeconds: number, deadline: Date | undefined): number {
  const waitMs = Math.min(Math.max(0, waitSeconds), MAX_WAIT_SECONDS) * 1000
  const leftMs = deadline ? deadline.getTime() - Date.now() - 1_000 : waitMs
  return Math.max(0, Math.min(waitMs, leftMs))
}

/**
 * Ends the attempts of a restarted worker's earlier processes, before their leases expire.
 */
async function failFormerLeases({ db, queue, steps, log }: WorkTools, workerId: string): Promise<void> {
  const former = await registerWorker(db.query, workerId)
  if (former.length === 0) return
  for (const lease of await queue.findLeasedBy(former)) {
    log.warn({ task_id: lease.itemId, kind: lease.kind, job_id: toJobId(lease.key) }, 'worker restarted; the attempt of its task ended')
    await steps.fault(lease, { code: 5001, message: 'the worker stopped responding' })
  }
}

async function nextTask(
  tools: WorkTools,
  request: Omit<LeaseRequest, 'leaseMs' | 'waitMs'> & { kinds: readonly WorkerTaskKind[] },
  waitMs: number,
  disconnected: AbortSignal,
): Promise<Task | undefined> {
  const { queue, steps, leaseMs } = tools
  const until = performance.now() + waitMs
  const signal = AbortSignal.any([disconnected, tools.stopping])
  for (;;) {
    const remainingMs = Math.max(0, until - performance.now())
    const item = await lease(queue, { ...request, leaseMs, waitMs: remainingMs }, signal)
    if (!item) return undefined
    if (signal.aborted) {
      await steps.release(item)
      return undefined
    }
    const task = await startTask(tools, item)
    if (!task) continue
    if (!signal.aborted) return task
    // The worker disconnected, for example because it was stopped, and will not receive the
    // response. An expired lease would count as a lost worker.
    await steps.release(item)
    return undefined
  }
}

/** Returns the next item, or undefined if the client disconnected, which is not an error. */
async function lease(queue: Queue, request: LeaseRequest, signal: AbortSignal): Promise<LeasedItem | undefined> {
  try {
    return await queue.lease(request, signal)
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

/** Returns the task, or undefined if the job was cancelled in the meantime. */
async function startTask({ db, steps, maxSourceSeconds }: WorkTools, item: LeasedItem): Promise<Task | undefined> {
  const started = await steps.begin(item)
  if (!started) return undefined
  const input = await inputFor(db.query, item, started, { maxSourceSeconds })
  return {
    taskId: item.itemId,
    fence: item.fence,
    jobId: started.job.jobId,
    kind: CODES[readWorkerTask(item).kind],
    input: toInputMessage(input),
    traceparent: item.traceparent ?? '',
  }
}

/**
 * Returns the kinds of tasks that a worker supports. A worker of an older release would deviate
 * from a plan, so it gets only tasks without a plan.
 */
function supportedKinds(codes: readonly KindCode[], supportedVersion: number): readonly WorkerTaskKind[] {
  const kinds = codes.length === 0 ? DEFAULT_KINDS : WORKER_KINDS.filter((kind) => codes.includes(CODES[kind]))
  return supportedVersion >= planVersion ? kinds : kinds.filter((kind) => kind === 'probe' || kind === 'slides' || kind === 'poster')
}

function toFile({ path, bytes, sha256, seconds }: SegmentFile, index: number): StoredFile {
  const isValid = isObjectName(path) && bytes > 0 && /^[0-9a-f]{64}$/.test(sha256) && seconds >= 0 && Number.isFinite(seconds)
  if (!isValid) throw invalid([{ field: `files[${index}]`, message: 'must have a valid path, bytes, sha256 and seconds' }])
  return { path, bytes, sha256, seconds }
}

function toLease(taskId: string, fence: number): Lease {
  const fields: FieldError[] = []
  if (!isId(taskId)) fields.push({ field: 'task_id', message: 'must be the id of a task' })
  if (fence < 1) fields.push({ field: 'fence', message: 'must be the fence of a lease' })
  requireValid(fields)
  return { itemId: taskId, fence }
}

async function leaseLost(db: Db, fence: number): Promise<DomainError> {
  await sweepSoon(db.query, fence)
  return new DomainError(
    'failed_precondition',
    'LEASE_LOST',
    'another worker holds the lease of this task, or the task has ended; stop and discard the result',
  )
}
