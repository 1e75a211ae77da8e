import { randomUUID } from 'node:crypto'
import { isDomainError } from '@vitascope/errors'
import { serviceCall } from '@vitascope/grpc'
import { planVersion } from '@vitascope/media'
import { type Task, TaskKind } from '@vitascope/proto/encoding/v1/work'
import { readInputMessage } from '../task/task-message.ts'
import { chunkMemoryMib } from '../task/task-resources.ts'
import type { IdleClock } from './idle-clock.ts'
import { pauseAfterFailures, WAIT_SECONDS } from './lease-retry.ts'
import type { MemoryBudget } from './memory-budget.ts'
import { releaseRequest, releaseTask } from './release-task.ts'
import { runTask, type TaskTools } from './run-task.ts'
import type { CacheHandle, SourceCache } from './source-cache.ts'

/** Errors other than `unavailable` after which a new request id is used. */
const ERRORS_PER_REQUEST_ID = 5
/** Kinds that are usually followed by a chunk of the same source. */
const BEFORE_ENCODE: readonly TaskKind[] = [TaskKind.TASK_KIND_PROBE, TaskKind.TASK_KIND_ENCODE]

export interface SlotTools extends TaskTools {
  workerId: string
  sourceCache: SourceCache
  /** Shared by all slots. */
  memory: MemoryBudget
}

/**
 * Runs tasks of these kinds until the signal aborts. Throws when another process has superseded
 * this worker.
 */
export async function runSlot(tools: SlotTools & { idle: IdleClock }, kinds: TaskKind[], stopping: AbortSignal): Promise<void> {
  const sources = tools.sourceCache.openHandle()
  try {
    await runTasks(tools, kinds, sources, stopping)
  } finally {
    await sources.drop()
  }
}

async function runTasks(
  tools: SlotTools & { idle: IdleClock },
  kinds: TaskKind[],
  sources: CacheHandle,
  stopping: AbortSignal,
): Promise<void> {
  let failures = 0
  let faults = 0
  // The id is reused until there is a response, because the service may have leased a task to this
  // id and the response was lost.
  let requestId: string | undefined
  let lastJob: string | undefined
  while (!stopping.aborted) {
    requestId ??= randomUUID()
    try {
      const task = await nextTask(tools, kinds, requestId, stopping)
      failures = 0
      requestId = undefined
      const releaseMemory = task ? tools.memory.reserve(computeMemory(task)) : undefined
      if (task && !releaseMemory) {
        // Another slot reserved the memory first. A worker with free memory can lease the task.
        await releaseTask(tools.work, task, tools.log)
        continue
      }
      if (task?.jobId !== lastJob || task?.kind === TaskKind.TASK_KIND_PACKAGE) await sources.drop()
      lastJob = task?.jobId
      if (!task) continue
      const endTask = tools.idle.startTask()
      const isDone = await runTask(tools, task, sources, stopping).finally(releaseMemory).finally(endTask)
      if (!isDone || !BEFORE_ENCODE.includes(task.kind)) await sources.drop()
    } catch (error) {
      if (stopping.aborted) break
      if (isDomainError(error) && error.reason === 'WORKER_SUPERSEDED') throw error
      failures++
      // The response of a lease may fail each time, for example because it is too large. A new
      // request id ends such a loop. The lease of that task then expires, which counts as an
      // attempt.
      if (!(isDomainError(error) && error.kind === 'unavailable') && ++faults % ERRORS_PER_REQUEST_ID === 0) requestId = undefined
      tools.log[failures === 3 ? 'warn' : 'debug']({ err: error }, 'leasing a task failed; retrying')
      await pauseAfterFailures(failures, stopping)
    }
  }
  if (requestId !== undefined) await releaseRequest(tools.work, { workerId: tools.workerId, requestId }, tools.log)
}

/** Returns the memory of a task in MiB. Tasks other than video chunks use little and count as 0. */
function computeMemory({ kind, input }: Task): number {
  const encode = kind === TaskKind.TASK_KIND_ENCODE ? readInputMessage(input) : undefined
  return encode?.kind === 'encode' ? chunkMemoryMib(encode.plan) : 0
}

async function nextTask(
  { work, workerId, memory }: SlotTools,
  kinds: TaskKind[],
  requestId: string,
  stopping: AbortSignal,
): Promise<Task | undefined> {
  const memoryMib = memory.free()
  const request = { workerId, requestId, waitSeconds: WAIT_SECONDS, kinds, planVersion, ...(memoryMib !== undefined && { memoryMib }) }
  const { task } = await work.leaseTask(request, serviceCall('worker', randomUUID(), stopping))
  return task
}
