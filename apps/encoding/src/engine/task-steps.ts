import { chunkIndexes, InvalidSource, isInvalidSource } from '@vitascope/media'
import type { Db, Query, Transaction } from '@vitascope/postgres'
import type { Lease, LeasedItem, QueueItem } from '@vitascope/queue'
import { beginChunk } from '../job/chunk-speed.ts'
import {
  addSegments,
  areAllChunksDone,
  countChunkFault,
  insertChunks,
  raiseChunkProgress,
  readChunkFaults,
  recordChunk,
  removeSegments,
  sumChunkBytes,
} from '../job/chunk-store.ts'
import { type AfterFault, afterFault, type FinishedSet, isActive, type Job, toJobId, toJobPercent } from '../job/job.ts'
import { countStorageFault, lockJob, raiseProgress, readStorageFaults, resetStorageFaults, updateJob } from '../job/job-store.ts'
import { claimPrefixes, dropPrefixes, findPrefixes, type PrefixType, type TaskPrefixes } from '../objects/object-prefix.ts'
import { reportPlayable } from '../preview-playlist/report-playable.ts'
import { type Fault, isStorageFault } from '../task/fault.ts'
import { readChunkTask, readTask } from '../task/queued-task.ts'
import type { ProbeResult, StoredFile, StoredSource, TaskKind } from '../task/task.ts'
import { type CopyFallback, copyFallbackFor } from './copy-fallback.ts'
import { type EndTools, endJob } from './end-job.ts'
import { EncoderMissing, planFor } from './plan.ts'
import { needsPlan, retryJob } from './retry-job.ts'
import { sendChunk, sendTask } from './send-task.ts'

/**
 * The state transitions of a job. Each step is one transaction that locks the job, then the work
 * item under its fencing token. It does nothing and returns false if that lease is over. These are
 * the tasks of each kind of job, and the steps that queue the next task:
 *
 *     renditions: [fetch] --fetched--> [probe] --probed--> [audio], [encode] per chunk
 *                 --encoded (the last one)--> [package] --packaged--> ok
 *     rendition:  the same from [probe], because the source is already stored
 *     slides:     [slides] --packaged--> ok
 *     poster:     [fetch-poster] --fetched--> [poster] --packaged--> ok,
 *                 or from [poster] if the source is already stored
 *
 * An internal fault releases the item and counts as an attempt. A fault of the source, or the third
 * attempt, fails the job. Attempts are counted per chunk, and the job shows the maximum. Storage
 * faults are counted separately.
 */
export interface TaskSteps {
  /**
   * Starts a leased item: the job moves to the state for this kind of work, and its prefixes in
   * storage are recorded.
   */
  begin(item: LeasedItem): Promise<{ job: Job; prefixes: TaskPrefixes } | undefined>
  fetched(lease: Lease, source: StoredSource): Promise<boolean>
  probed(lease: Lease, result: ProbeResult): Promise<boolean>
  /** Records files that the lease holder stored below its work prefix, while the task continues. */
  addSegments(lease: Lease, files: readonly StoredFile[]): Promise<boolean>
  /** Records a complete chunk. `files` lie below `prefix`, and `list` names the list of them. */
  encoded(lease: Lease, result: { prefix: string; list: string; files: StoredFile[] }): Promise<boolean>
  /** Records the complete set below `prefix`. `set` is reported to the catalogue. */
  packaged(lease: Lease, prefix: string, set: FinishedSet): Promise<boolean>
  /**
   * Renews the lease and raises the progress of the job. `done` (0 to 1) is the progress of the
   * task.
   */
  extendLease(lease: Lease, done: number): Promise<boolean>
  /**
   * Ends an attempt without a result. With `onlyExpired` it does so only if the lease has expired.
   */
  fault(lease: Lease, fault: Fault, options?: { onlyExpired?: boolean }): Promise<boolean>
  /** Releases an unfinished task at once, without counting an attempt. */
  release(lease: Lease): Promise<boolean>
  /** Returns true if the result of this lease was already recorded. */
  isRecorded(lease: Lease): Promise<boolean>
}

export interface StepTools extends EndTools {
  db: Db
  retryMs: number
  /** Whether a source is kept after the job. */
  keepsSource: boolean
  /** Called for every job whose progress has changed. */
  onProgress: (jobId: string) => void
  /** Called after the commit for every job that is planned again without a copy. */
  onCopyFallback: (reason: CopyFallback) => void
}

export function createTaskSteps(tools: StepTools): TaskSteps {
  const { db, queue, outbox, keepsSource } = tools

  /** Runs a change under both locks, if the job is active and `confirmLease` confirms the lease. */
  const step = async (
    lease: Lease,
    confirmLease: (tx: Transaction, job: Job, item: QueueItem) => Promise<boolean>,
    change: Change,
  ): Promise<boolean> => {
    const item = await queue.find(lease.itemId)
    if (!item) return false
    return db.transaction(async (tx) => {
      const job = await lockJob(tx, toJobId(item.key))
      if (!job || !isActive(job.state) || !(await confirmLease(tx, job, item))) return false
      await change(tx, job, item)
      tx.afterCommit(() => tools.onProgress(job.jobId))
      return true
    })
  }
  /**
   * Returns true if this lease has completed its item. A worker may repeat a result after a lost
   * response.
   */
  const isRecorded = (lease: Lease) => db.transaction((tx) => queue.isCompletedBy(tx, lease))
  const finish = async (lease: Lease, change: Change): Promise<boolean> =>
    (await step(
      lease,
      (tx) => queue.complete(tx, lease),
      async (tx, job, item) => {
        await resetStorageFaults(tx, job.jobId)
        await change(tx, job, item)
      },
    )) || isRecorded(lease)

  return {
    async begin(leased) {
      let started: { job: Job; prefixes: TaskPrefixes } | undefined
      await step(
        leased,
        (tx) => queue.extend(leased, tx),
        async (tx, job) => {
          started = await beginTask(tx, job, leased)
        },
      )
      return started
    },
    fetched: (lease, source) =>
      finish(lease, async (tx, job) => {
        const next = job.kind === 'poster' ? 'poster' : 'probe'
        await updateJob(tx, job.jobId, { state: 'probing', source, progress: toJobPercent(next, 0) })
        await sendTask(tx, queue, job, next)
      }),
    probed: (lease, result) =>
      finish(lease, async (tx, job) => {
        try {
          const { plan, weights } = planFor(result, job)
          requireMinutes(job, plan.durationSeconds)
          await updateJob(tx, job.jobId, { state: 'encoding', probe: result.probe, plan, progress: toJobPercent('encode', 0) })
          await insertChunks(tx, job.jobId, weights)
          for (const chunk of chunkIndexes(plan)) await sendChunk(tx, queue, job, plan, chunk)
        } catch (error) {
          if (!isInvalidSource(error) && !(error instanceof EncoderMissing)) throw error
          await endJob(tx, tools, job, { state: 'failed', code: error.code, message: error.message })
        }
      }),
    addSegments: (lease, files) =>
      step(
        lease,
        (tx) => queue.extend(lease, tx),
        async (tx, job, item) => {
          const { work: prefix } = await findPrefixes(tx.query, job.jobId, lease.fence)
          await addSegments(tx, { jobId: job.jobId, chunk: readChunkTask(item).chunk, prefix, files })
          await reportPlayable(tx, outbox, job)
        },
      ),
    encoded: (lease, { prefix, list, files }) =>
      finish(lease, async (tx, job, item) => {
        const { jobId, maxBytes } = job
        await recordChunk(tx, { jobId, chunk: readChunkTask(item).chunk, fence: lease.fence, prefix, list, files })
        if (maxBytes !== undefined && (await sumChunkBytes(tx, jobId)) > maxBytes) {
          await endJob(tx, tools, job, { state: 'failed', code: 4003, message: quotaExceededMessage(maxBytes) })
          return
        }
        await reportPlayable(tx, outbox, job)
        if (!(await areAllChunksDone(tx, jobId))) return
        await updateJob(tx, jobId, { state: 'publishing', progress: toJobPercent('package', 0) })
        await sendTask(tx, queue, job, 'package')
      }),
    packaged: (lease, prefix, set) => finish(lease, (tx, job) => endJob(tx, tools, job, { state: 'ok', result: set, prefix, keepsSource })),
    async extendLease(lease, done) {
      const item = await queue.find(lease.itemId)
      if (!item || !(await queue.extend(lease))) return false
      const jobId = toJobId(item.key)
      if (await raiseProgress(db.query, jobId, await recordProgress(db.query, jobId, item, done))) tools.onProgress(jobId)
      return true
    },
    async fault(lease, fault, { onlyExpired = false } = {}) {
      const endLease = onlyExpired ? queue.rescue : queue.retry
      let after: AfterFault = { next: 'failed' }
      let fallback: CopyFallback | undefined
      return step(
        lease,
        async (tx, job, item) => {
          fallback = copyFallbackFor(job, item, fault)
          after = afterFault({ ...(await countAttempts(tx, job, item, fault)), dropsCopy: fallback !== undefined }, fault, tools.retryMs)
          return endLease(tx, lease, after.next === 'retry' ? after.delayMs : 0)
        },
        async (tx, job, item) => {
          await dropLeaseFiles(tx, job, item, lease)
          const { chunk } = readTask(item)
          if (chunk !== undefined) await countChunkFault(tx, job.jobId, chunk, isStorageFault(fault))
          else if (isStorageFault(fault)) await countStorageFault(tx, job.jobId)
          if (after.next === 'failed') await endJob(tx, tools, job, { state: 'failed', ...fault })
          else {
            const attempt = Math.max(job.attempt, after.attempt)
            await retryJob(tx, queue, job, { item, fault, attempt, dropsCopy: fallback !== undefined })
          }
          const reason = fallback
          if (reason !== undefined) tx.afterCommit(() => tools.onCopyFallback(reason))
        },
      )
    },
    release: (lease) =>
      step(
        lease,
        (tx) => queue.release(tx, lease),
        (tx, job, item) => dropLeaseFiles(tx, job, item, lease),
      ),
    isRecorded,
  }
}

type Change = (tx: Transaction, job: Job, item: QueueItem) => Promise<void>

async function beginTask(tx: Transaction, job: Job, leased: LeasedItem): Promise<{ job: Job; prefixes: TaskPrefixes }> {
  const { jobId } = job
  const task = readTask(leased)
  const attempt = Math.max(1, job.attempt)
  const states = {
    fetch: 'fetching',
    'fetch-poster': 'fetching',
    probe: 'probing',
    encode: 'encoding',
    audio: 'encoding',
    package: 'publishing',
    slides: 'encoding',
    poster: 'encoding',
  } as const
  await updateJob(tx, jobId, { state: states[task.kind], attempt })
  if (task.chunk !== undefined) await beginChunk(tx, jobId, task.chunk)
  return { job: { ...job, attempt }, prefixes: await claimPrefixes(tx, job, leased.fence, PREFIX_TYPES[task.kind]) }
}

const PREFIX_TYPES: Readonly<Record<TaskKind, readonly PrefixType[]>> = {
  fetch: ['source'],
  'fetch-poster': ['source'],
  probe: [],
  encode: ['work'],
  audio: ['work'],
  package: ['work', 'set'],
  slides: ['work', 'set'],
  poster: ['work', 'set'],
}

/**
 * Throws if the video is longer than the remaining encoding minutes of the organisation. It is
 * called before any chunk is encoded.
 */
function requireMinutes({ maxSeconds }: Job, seconds: number): void {
  if (maxSeconds === undefined || seconds <= maxSeconds) return
  const [duration, remaining] = [seconds, maxSeconds].map((length) => Math.round(length * 100) / 100)
  throw new InvalidSource(
    4003,
    `the video takes ${duration} s, but only ${remaining} s of the monthly encoding minutes of the organisation were left`,
  )
}

/**
 * Returns the message for a set beyond the byte quota. Sizes are checked as chunks arrive, so that
 * the job fails early. The catalogue checks the complete set.
 */
function quotaExceededMessage(remainingBytes: number): string {
  return `the video exceeds the ${remainingBytes} bytes that were left of the storage quota of the organisation`
}

/**
 * Records the progress of a chunk. Returns the progress of the job in percent, for a task of any
 * kind.
 */
async function recordProgress(query: Query, jobId: string, item: QueueItem, done: number): Promise<number> {
  const task = readTask(item)
  return task.chunk === undefined
    ? toJobPercent(task.kind, done)
    : toJobPercent('encode', await raiseChunkProgress(query, jobId, task.chunk, done))
}

/**
 * Returns the attempts so far. Each chunk has three attempts of its own, so that many chunks do not
 * exhaust the job. A fault that requires a new plan counts for the job.
 */
async function countAttempts(
  tx: Transaction,
  job: Job,
  item: QueueItem,
  fault: Fault,
): Promise<{ attempt: number; storageFaults: number }> {
  const { chunk } = readTask(item)
  if (chunk === undefined || needsPlan(fault)) return { attempt: job.attempt, storageFaults: await readStorageFaults(tx, job.jobId) }
  const { faults, storageFaults } = await readChunkFaults(tx, job.jobId, chunk)
  return { attempt: 1 + faults, storageFaults }
}

/** Drops the files and the segments of a lease that ended without a result. */
async function dropLeaseFiles(tx: Transaction, { jobId }: Job, item: QueueItem, { fence }: Lease): Promise<void> {
  await dropPrefixes(tx, jobId, { fence })
  const { chunk } = readTask(item)
  if (chunk !== undefined) await removeSegments(tx, jobId, chunk)
}
