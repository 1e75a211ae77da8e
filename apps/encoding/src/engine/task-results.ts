import { invalid } from '@vitascope/errors'
import type { SetFile } from '@vitascope/media'
import type { Db } from '@vitascope/postgres'
import type { CompleteTaskRequest } from '@vitascope/proto/encoding/v1/work'
import type { Lease, Queue } from '@vitascope/queue'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger } from '@vitascope/telemetry'
import type { CrashPointHook } from '../common/crash-point.ts'
import { untilAborted } from '../common/until-aborted.ts'
import { type FinishedSet, type Job, toJobId } from '../job/job.ts'
import { readJob } from '../job/job-store.ts'
import { findPrefixes } from '../objects/object-prefix.ts'
import { checkFiles, readFileList, StoredFilesMismatch } from '../task/file-list.ts'
import { MalformedMessage } from '../task/plan-message.ts'
import { readWorkerTask } from '../task/queued-task.ts'
import { FILE_LIST, type FilesResult, type PosterFile, type ProbeResult, type SlidesFile, type StoredFile } from '../task/task.ts'
import { readFilesResult, readProbeResult } from '../task/task-message.ts'
import { toPosterSet } from './poster-set.ts'
import { publishedSet } from './published-set.ts'
import { toSlideSet } from './slide-set.ts'
import type { TaskSteps } from './task-steps.ts'

/** Validates and records the results of workers. */
export interface TaskResults {
  /**
   * Returns false if the lease is over. If files of the result are missing in storage, it ends the
   * attempt with a storage fault and returns false.
   *
   * A result can have a hundred thousand files, and checking them can take longer than a call may last. So the check
   * continues after the signal has aborted, and a repeated call waits for its end.
   */
  accept(lease: Lease, result: CompleteTaskRequest['result'], signal: AbortSignal): Promise<boolean>
  /** Ends the checks that still run, when no call waits for them any more. */
  stop(): Promise<void>
}

interface ResultTools {
  db: Db
  queue: Queue
  steps: TaskSteps
  storage: ObjectStorage
  atCrashPoint: CrashPointHook
  log: Logger
}

export function createTaskResults(tools: ResultTools): TaskResults {
  const stopping = new AbortController()
  /** Results that are being recorded, by item and fence. */
  const running = new Map<string, Promise<boolean>>()
  const start = (key: string, lease: Lease, result: CompleteTaskRequest['result']) => {
    const run = record(tools, lease, result, stopping.signal).finally(() => running.delete(key))
    // Each waiting call gets the error. If no call waits, the worker repeats its call.
    run.catch(() => {})
    running.set(key, run)
    return run
  }
  return {
    accept(lease, result, signal) {
      const key = `${lease.itemId} ${lease.fence}`
      return untilAborted(running.get(key) ?? start(key, lease, result), signal)
    },
    async stop() {
      stopping.abort(new DOMException('the service is stopping', 'AbortError'))
      await Promise.allSettled(running.values())
    },
  }
}

async function record(tools: ResultTools, lease: Lease, result: CompleteTaskRequest['result'], signal: AbortSignal): Promise<boolean> {
  const { queue, steps, log } = tools
  const item = await queue.find(lease.itemId)
  if (!item) return false
  // A repeated request after a lost response. The result's files may be deleted by now.
  if (await steps.isRecorded(lease)) return true
  const jobId = toJobId(item.key)
  try {
    switch (readWorkerTask(item).kind) {
      case 'probe':
        return await recordProbe(tools, lease, parseResult(readProbeResult, result))
      case 'encode':
      case 'audio':
        return await recordChunkResult(tools, lease, jobId, parseResult(readFilesResult, result), signal)
      case 'package':
      case 'slides':
      case 'poster':
        return await recordSet(tools, lease, jobId, parseResult(readFilesResult, result), signal)
    }
  } catch (error) {
    if (!(error instanceof StoredFilesMismatch)) throw error
    log.error({ err: error, job_id: jobId, task_id: lease.itemId }, 'files of a task result are missing in storage')
    await steps.fault(lease, { code: 5004, message: 'files of the result are missing in storage' })
    return false
  }
}

async function recordProbe({ steps, atCrashPoint }: ResultTools, lease: Lease, result: ProbeResult): Promise<boolean> {
  const isAccepted = await steps.probed(lease, result)
  atCrashPoint('probe-recorded')
  return isAccepted
}

async function recordChunkResult(
  { db, steps, storage, atCrashPoint }: ResultTools,
  lease: Lease,
  jobId: string,
  result: FilesResult,
  signal: AbortSignal,
) {
  const { work } = await findPrefixes(db.query, jobId, lease.fence)
  // The lease is over and its prefixes were dropped.
  if (work === '') return steps.isRecorded(lease)
  const list = `${work}/${FILE_LIST}`
  const files = await readFileList(storage, list, result.list, signal)
  const isAccepted = await steps.encoded(lease, { prefix: work, list, files })
  atCrashPoint('chunk-recorded')
  return isAccepted
}

/**
 * Records a set. It becomes visible with the transaction of `packaged`, after every file was
 * verified in storage.
 */
async function recordSet(tools: ResultTools, lease: Lease, jobId: string, result: FilesResult, signal: AbortSignal): Promise<boolean> {
  const { db, steps, storage, atCrashPoint } = tools
  const job = await readJob(db.query, jobId)
  const { work, set: prefix } = await findPrefixes(db.query, jobId, lease.fence)
  if (!job || work === '' || prefix === '') return steps.isRecorded(lease)
  const files = await readFileList(storage, `${work}/${FILE_LIST}`, result.list, signal)
  await checkFiles(storage, prefix, files, signal)
  atCrashPoint('publish-undecided')
  const isAccepted = await steps.packaged(lease, prefix, toSet(job, prefix, files))
  atCrashPoint('publish-recorded')
  return isAccepted
}

/**
 * Returns the set as it is reported. The lists of some sets have more fields per file than its name
 * and size.
 */
function toSet(job: Job, prefix: string, files: readonly StoredFile[]): FinishedSet {
  if (job.kind === 'poster') return toPosterSet(job, prefix, files as PosterFile[])
  return job.kind === 'slides' ? toSlideSet(job, prefix, files as SlidesFile[]) : publishedSet(job, prefix, files as SetFile[])
}

/** Rejects a result with missing or invalid fields. */
function parseResult<T>(read: (message: CompleteTaskRequest['result']) => T, message: CompleteTaskRequest['result']): T {
  try {
    return read(message)
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error
    throw invalid([{ field: error.field, message: error.problem }])
  }
}
