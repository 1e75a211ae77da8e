import { mkdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@vitascope/grpc'
import { type FfmpegTools, isEncodeError, isInvalidSource } from '@vitascope/media'
import { type Task, TaskKind, type WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import { isStorageFailure, type ObjectStorage } from '@vitascope/storage'
import { type ActiveSpan, type Logger, type Metrics, type SpanDescription, tracedFrom } from '@vitascope/telemetry'
import { describeTask } from '../task/describe-task.ts'
import type { Fault } from '../task/fault.ts'
import { StoredFilesMismatch } from '../task/file-list.ts'
import type { TaskResult } from '../task/task.ts'
import { readInputMessage } from '../task/task-message.ts'
import { type DiskBudget, type ScratchNeeds, ScratchTooSmall } from './disk-budget.ts'
import { encodeTask } from './encode-task.ts'
import { packageTask } from './package-task.ts'
import { posterTask } from './poster-task.ts'
import { probeTask } from './probe-task.ts'
import { slidesTask } from './slides-task.ts'
import type { CacheHandle } from './source-cache.ts'
import { keepLease } from './task-lease.ts'
import { FfmpegVersionMismatch, type TaskWork } from './task-work.ts'

export interface TaskTools {
  work: Client<typeof WorkServiceService>
  storage: ObjectStorage
  tools: FfmpegTools
  office: string | undefined
  log: Logger
  scratchDir: string
  /** Shared by all slots. */
  diskBudget: DiskBudget
  heartbeatMs: number
  stallSeconds: number
  speed: ReturnType<Metrics['gauge']>
  tasks: ReturnType<Metrics['counter']>
}

/**
 * Runs one task to its result, its fault or its release, and removes its scratch folder. Returns
 * true for a result.
 */
export function runTask(tools: TaskTools, task: Task, sources: CacheHandle, stopping: AbortSignal): Promise<boolean> {
  return tracedFrom(
    task.traceparent,
    () => describeWorkerTask(task),
    (span) => runInTrace({ ...tools, span }, task, sources, stopping),
  )
}

async function runInTrace(
  tools: TaskTools & { span: ActiveSpan },
  task: Task,
  sources: CacheHandle,
  stopping: AbortSignal,
): Promise<boolean> {
  const { log, tasks, span } = tools
  const kind = kindNames[task.kind] ?? 'unknown'
  const context = { task_id: task.taskId, fence: task.fence, job_id: task.jobId, kind }
  const lease = keepLease(tools.work, task, tools.heartbeatMs, log)
  const signal = AbortSignal.any([stopping, lease.lost])
  const scratch = join(tools.scratchDir, `${task.jobId}-${task.fence}`)
  const end = (outcome: string) => {
    tasks.inc({ kind, outcome })
    span.setAttributes({ 'vitascope.outcome': outcome })
    log.info({ ...context, outcome }, 'task ended')
    return outcome === 'ok'
  }
  let releaseSpace = () => {}
  const reserveDisk = async (needs: ScratchNeeds) => {
    releaseSpace = await tools.diskBudget.reserve(needs, releaseSource, signal)
  }
  const releaseSource = async () => {
    log.info(context, 'task waits for scratch space')
    await sources.drop()
  }
  log.info(context, 'task started')
  try {
    await mkdir(scratch, { recursive: true })
    const result = await executeTask(task, {
      ...tools,
      scratch,
      getSource: async (source, bytes) => {
        await reserveDisk({ source, bytes })
        return sources.get(source, signal)
      },
      reserveDisk: (bytes) => reserveDisk({ bytes }),
      reportFiles: (files) => lease.addFiles(files, signal),
      setProgress: lease.setProgress,
      signal,
    })
    return end((await lease.complete(result, stopping)) ? 'ok' : 'lost')
  } catch (error) {
    if (lease.lost.aborted) return end('lost')
    if (stopping.aborted) {
      await lease.release()
      return end('released')
    }
    const fault = error instanceof ScratchTooSmall || !(await isFull(tools.scratchDir)) ? toFault(error) : SCRATCH_FULL
    log.warn(
      { ...context, err: error, code: fault.code, detail: isEncodeError(error) ? error.detail.slice(-2_000) : undefined },
      'task failed',
    )
    return end((await lease.fail(fault, stopping)) ? 'failed' : 'lost')
  } finally {
    lease.stop()
    await rm(scratch, { recursive: true, force: true })
    releaseSpace()
  }
}

function describeWorkerTask({ kind, input, jobId, taskId, fence }: Task): SpanDescription {
  const message = readInputMessage(input)
  return describeTask(
    { kind: kindNames[kind] ?? 'unknown', taskId, fence },
    { 'vitascope.job_id': jobId, ...(message.kind === 'encode' && { 'vitascope.chunk': message.chunk }) },
  )
}

const kindNames: Readonly<Partial<Record<TaskKind, string>>> = {
  [TaskKind.TASK_KIND_PROBE]: 'probe',
  [TaskKind.TASK_KIND_ENCODE]: 'encode',
  [TaskKind.TASK_KIND_AUDIO]: 'audio',
  [TaskKind.TASK_KIND_PACKAGE]: 'package',
  [TaskKind.TASK_KIND_SLIDES]: 'slides',
  [TaskKind.TASK_KIND_POSTER]: 'poster',
}

/** Kinds of tasks that use little CPU time, and which run in slots of their own. */
export const LIGHT_KINDS: TaskKind[] = [TaskKind.TASK_KIND_AUDIO, TaskKind.TASK_KIND_POSTER]

/** All other kinds that this worker supports. */
export const DEFAULT_KINDS: TaskKind[] = [
  TaskKind.TASK_KIND_PROBE,
  TaskKind.TASK_KIND_ENCODE,
  TaskKind.TASK_KIND_PACKAGE,
  TaskKind.TASK_KIND_SLIDES,
]

function executeTask(task: Task, work: TaskWork): Promise<TaskResult> {
  const input = readInputMessage(task.input)
  switch (input.kind) {
    case 'probe':
      return probeTask(work, input)
    case 'encode':
      return encodeTask(work, input)
    case 'package':
      return packageTask(work, input)
    case 'slides':
      return slidesTask(work, input)
    case 'poster':
      return posterTask(work, input)
  }
}

/**
 * With less free space than this, the output of ffmpeg may be truncated without an error message.
 */
const FULL_BYTES = 16 * 2 ** 20
/**
 * Counts as a storage fault, which is retried for ten minutes: it affects all jobs, and other tasks
 * may free space.
 */
const SCRATCH_FULL: Fault = { code: 5004, message: 'the scratch disk of the worker is full' }

async function isFull(folder: string): Promise<boolean> {
  const disk = await statfs(folder).catch(() => undefined)
  return disk !== undefined && disk.bavail * disk.bsize < FULL_BYTES
}

/** Returns the fault of a failed task. docs/reference/error-codes.md lists the codes. */
function toFault(error: unknown): Fault {
  if (isInvalidSource(error)) return { code: error.code, message: error.message }
  if (error instanceof FfmpegVersionMismatch) return { code: 5005, message: error.message }
  if (error instanceof ScratchTooSmall) return { code: 5004, message: error.message }
  if (error instanceof StoredFilesMismatch) return { code: 5004, message: 'files of the encode are missing in storage' }
  if (isEncodeError(error)) {
    if (error.kind === 'unclean') return { code: 5007, message: 'the encoder reported errors in the copied video stream' }
    return error.kind === 'incomplete'
      ? { code: 5003, message: 'the encoder output does not match the plan' }
      : { code: 5002, message: `the encoder failed (${error.kind.replaceAll('_', ' ')})` }
  }
  if (isStorageFailure(error)) return { code: 5004, message: 'the storage failed' }
  return { code: 5000, message: 'the worker failed' }
}
