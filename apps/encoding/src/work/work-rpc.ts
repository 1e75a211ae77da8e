import { DomainError, type FieldError, invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { planVersion } from '@vitascope/media'
import type { Db } from '@vitascope/postgres'
import {
  ChunkStanding,
  TaskKind as KindCode,
  type SegmentFile,
  type Task,
  type WorkServiceService,
} from '@vitascope/proto/encoding/v1/work'
import type { Ask, Lease, LeasedItem, Queue } from '@vitascope/queue'
import { isObjectName } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import { onlyServices } from '../caller.ts'
import { isJobId, isOfSource, keyOfJob } from '../job/job.ts'
import { sweepSoon } from '../objects/object-prefix.ts'
import { chunkStanding, openChunkItem } from './chunk-item.ts'
import { LEAST_PRIORITY, type StoredFile, WORKER_KINDS, type WorkerTaskKind } from './task.ts'
import { inputFor } from './task-input.ts'
import type { TaskResults } from './task-results.ts'
import type { TaskSteps } from './task-steps.ts'
import { registerWorker } from './worker-store.ts'

export interface WorkTools {
  db: Db
  queue: Queue
  steps: TaskSteps
  results: TaskResults
  leaseMs: number
  maxSourceSeconds: number
  /** Chunks of the picture go to those who ask for them by number, and are given to nobody else. */
  chunksByNumber: boolean
  /** Has others started in place of those that an older release started for a job. */
  renewRun: (jobId: string) => Promise<void>
  log: Logger
  /** Aborts when this service stops: nobody waits for work any more. */
  stopping: AbortSignal
}

const MOST_WAIT_SECONDS = 20
const MOST_FILES = 5_000
/** Whoever takes any chunk waits so long for one, then looks whether others have them all by now. */
const LOOK_MS = 1_000
const CODES: Readonly<Record<WorkerTaskKind, KindCode>> = {
  probe: KindCode.TASK_KIND_PROBE,
  encode: KindCode.TASK_KIND_ENCODE,
  audio: KindCode.TASK_KIND_AUDIO,
  package: KindCode.TASK_KIND_PACKAGE,
  slides: KindCode.TASK_KIND_SLIDES,
}
/** While any of these waits, nothing is begun for a job that gives way; whether slides can be made depends on who is there. */
const WAY = { priority: LEAST_PRIORITY, kinds: WORKER_KINDS.filter((kind) => kind !== 'slides') }
/** What workers know that do not say what they know. */
const FIRST_KINDS: readonly WorkerTaskKind[] = ['probe', 'encode', 'package']

export function workHandlers(tools: WorkTools): Handlers<typeof WorkServiceService> {
  const { db, steps, results, log } = tools
  return {
    async leaseTask({ workerId, waitSeconds, ask, kinds, planVersion: known, memoryMib }, { principal, signal, deadline }) {
      onlyServices(principal)
      checkAsk(workerId, ask)
      await takeOver(tools, workerId)
      const task = await nextTask(
        tools,
        {
          holder: workerId,
          kinds: knownKinds(kinds, known).filter((kind) => kind !== 'encode' || !tools.chunksByNumber),
          ...(ask !== '' && { ask }),
          ...(memoryMib !== undefined && { room: memoryMib }),
          way: WAY,
        },
        waitMsOf(waitSeconds, deadline),
        signal,
      )
      return { task }
    },
    async leaseChunk({ workerId, waitSeconds, ask, jobId, chunk, planVersion: known, orAnother }, { principal, signal, deadline }) {
      onlyServices(principal)
      checkAsk(workerId, ask)
      if (!isJobId(jobId)) throw invalid([{ field: 'job_id', message: 'must be the id of a job' }])
      if (known < planVersion) {
        log.info({ job: jobId, worker: workerId }, 'a pod is of an older release than this service: others take its place')
        await tools.renewRun(jobId)
        return { standing: ChunkStanding.CHUNK_STANDING_OVER, task: undefined }
      }
      await takeOver(tools, workerId)
      const ours = { holder: workerId, kinds: ['encode'] as const, ...(ask !== '' && { ask }) }
      const until = performance.now() + waitMsOf(waitSeconds, deadline)
      const leftMs = () => Math.max(0, until - performance.now())
      if (!orAnother) {
        const itemId = await openChunkItem(db.query, jobId, chunk)
        const task = itemId && (await nextTask(tools, { ...ours, itemId }, leftMs(), signal))
        if (task) return { standing: ChunkStanding.CHUNK_STANDING_LEASED, task }
        return { standing: await chunkStanding(db.query, jobId, chunk, false), task: undefined }
      }
      for (let waitMs = 0; ; waitMs = Math.min(LOOK_MS, leftMs())) {
        // Chunks were sent in order, so this is the lowest that is due: what can be watched meanwhile ends at the first gap.
        const task = await nextTask(tools, { ...ours, key: keyOfJob(jobId) }, waitMs, signal)
        if (task) return { standing: ChunkStanding.CHUNK_STANDING_LEASED, task }
        const standing = await chunkStanding(db.query, jobId, chunk, true)
        const isOver = leftMs() === 0 || signal.aborted || tools.stopping.aborted
        if (standing !== ChunkStanding.CHUNK_STANDING_WAITING || isOver) return { standing, task: undefined }
      }
    },
    async beatTask({ taskId, attempt, done }, { principal }) {
      onlyServices(principal)
      if (!(await steps.beat(leaseOf(taskId, attempt), Number.isFinite(done) ? done : 0))) throw await leaseLost(db, attempt)
      return {}
    },
    async addSegments({ taskId, attempt, files }, { principal }) {
      onlyServices(principal)
      if (files.length < 1 || files.length > MOST_FILES) throw invalid([{ field: 'files', message: `must be 1 to ${MOST_FILES}` }])
      if (!(await steps.addSegments(leaseOf(taskId, attempt), files.map(toFile)))) throw await leaseLost(db, attempt)
      return {}
    },
    async completeTask({ taskId, attempt, resultJson }, { principal, signal }) {
      onlyServices(principal)
      if (!(await results.take(leaseOf(taskId, attempt), resultJson, signal))) throw await leaseLost(db, attempt)
      return {}
    },
    async failTask({ taskId, attempt, code, message }, { principal }) {
      onlyServices(principal)
      if (!isOfSource(code) && !(code >= 5000 && code <= 5999)) throw invalid([{ field: 'code', message: 'must be 4001 to 4005, or 5xxx' }])
      log.warn({ task: taskId, attempt, code, reason: message }, 'a task failed')
      if (!(await steps.fault(leaseOf(taskId, attempt), { code, message: message.slice(0, 500) }))) throw await leaseLost(db, attempt)
      return {}
    },
    async releaseTask({ taskId, attempt }, { principal }) {
      onlyServices(principal)
      if (!(await steps.release(leaseOf(taskId, attempt)))) throw await leaseLost(db, attempt)
      return {}
    },
    async releaseAsk({ workerId, ask }, { principal }) {
      onlyServices(principal)
      checkAsk(workerId, ask)
      if (ask === '') throw invalid([{ field: 'ask', message: 'must be the name of an ask' }])
      const item = await tools.queue.heldByAsk(workerId, ask)
      if (item) await steps.release(item)
      return {}
    },
  }
}

function checkAsk(workerId: string, ask: string): void {
  if (!/^[A-Za-z0-9._:-]{1,200}$/.test(workerId))
    throw invalid([{ field: 'worker_id', message: 'must be 1 to 200 of A-Z a-z 0-9 . _ : -' }])
  if (ask.length > 100) throw invalid([{ field: 'ask', message: 'must have 100 characters at most' }])
}

/** The answer must be there before the caller stops waiting, else the task would be leased to nobody. */
function waitMsOf(waitSeconds: number, deadline: Date | undefined): number {
  const waitMs = Math.min(Math.max(0, waitSeconds), MOST_WAIT_SECONDS) * 1000
  const leftMs = deadline ? deadline.getTime() - Date.now() - 1_000 : waitMs
  return Math.max(0, Math.min(waitMs, leftMs))
}

/** A restarted worker ends the leases of the processes before it: there is no need to wait until they run out. */
async function takeOver({ db, queue, steps, log }: WorkTools, workerId: string): Promise<void> {
  const former = await registerWorker(db.query, workerId)
  if (former.length === 0) return
  for (const held of await queue.heldBy(former)) {
    log.warn({ task: held.itemId, kind: held.kind, job: held.key }, 'a worker was restarted: its task is tried again')
    await steps.fault(held, { code: 5001, message: 'the worker was lost' })
  }
}

async function nextTask(
  tools: WorkTools,
  asker: Omit<Ask, 'leaseMs' | 'waitMs'> & { kinds: readonly WorkerTaskKind[] },
  waitMs: number,
  hangUp: AbortSignal,
): Promise<Task | undefined> {
  const { queue, steps, leaseMs } = tools
  const until = performance.now() + waitMs
  const signal = AbortSignal.any([hangUp, tools.stopping])
  for (;;) {
    const left = Math.max(0, until - performance.now())
    const item = await lease(queue, { ...asker, leaseMs, waitMs: left }, signal)
    if (!item) return undefined
    if (signal.aborted) {
      await steps.release(item)
      return undefined
    }
    const task = await readyTask(tools, item)
    if (!task) continue
    if (!signal.aborted) return task
    // Who hung up meanwhile, as a worker does that is stopped, will never hear of it: waiting for its lease to end would count as a lost worker.
    await steps.release(item)
    return undefined
  }
}

/** Whoever hung up gets nothing; that is no failure. */
async function lease(queue: Queue, ask: Ask, signal: AbortSignal): Promise<LeasedItem | undefined> {
  try {
    return await queue.lease(ask, signal)
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

/** Nothing when the job was cancelled in between. */
async function readyTask({ db, steps, maxSourceSeconds }: WorkTools, item: LeasedItem): Promise<Task | undefined> {
  const begun = await steps.begin(item)
  if (!begun) return undefined
  const input = await inputFor(db.query, item, begun, { maxSourceSeconds })
  return {
    taskId: item.itemId,
    attempt: item.fence,
    jobId: begun.job.jobId,
    kind: CODES[item.kind as WorkerTaskKind],
    inputJson: JSON.stringify(input),
  }
}

/** A worker of an older release would encode something else than what is planned: it gets what does not depend on a plan. */
function knownKinds(codes: readonly KindCode[], known: number): readonly WorkerTaskKind[] {
  const kinds = codes.length === 0 ? FIRST_KINDS : WORKER_KINDS.filter((kind) => codes.includes(CODES[kind]))
  return known >= planVersion ? kinds : kinds.filter((kind) => kind === 'probe' || kind === 'slides')
}

function toFile({ path, bytes, sha256, seconds }: SegmentFile, index: number): StoredFile {
  const isGood = isObjectName(path) && bytes > 0 && /^[0-9a-f]{64}$/.test(sha256) && seconds >= 0 && Number.isFinite(seconds)
  if (!isGood) throw invalid([{ field: `files[${index}]`, message: 'must have a path, bytes, a checksum and a length' }])
  return { path, bytes, sha256, seconds }
}

function leaseOf(taskId: string, attempt: number): Lease {
  const fields: FieldError[] = []
  if (!/^[1-9]\d{0,17}$/.test(taskId)) fields.push({ field: 'task_id', message: 'must be the id of a task' })
  if (attempt < 1) fields.push({ field: 'attempt', message: 'must be the number of a lease' })
  if (fields.length > 0) throw invalid(fields)
  return { itemId: taskId, fence: attempt }
}

async function leaseLost(db: Db, fence: number): Promise<DomainError> {
  await sweepSoon(db.query, fence)
  return new DomainError('refused', 'LEASE_LOST', 'another attempt holds the task, or it is over: stop and discard')
}
