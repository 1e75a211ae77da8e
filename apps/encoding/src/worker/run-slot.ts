import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { serviceCall } from '@vitascope/grpc'
import { planVersion } from '@vitascope/media'
import { type Task, TaskKind } from '@vitascope/proto/encoding/v1/work'
import { chunkMemoryMib } from '../work/send-task.ts'
import type { EncodeInput } from '../work/task.ts'
import { giveBackAsk, giveBackTask } from './give-back.ts'
import type { IdleClock } from './idle-clock.ts'
import type { MemoryRoom } from './memory-room.ts'
import { runTask, type TaskTools } from './run-task.ts'
import type { SourceHold, SourceShelf } from './source-hold.ts'

/** Below the ten seconds that a call may last. */
const WAIT_SECONDS = 8
const LONGEST_PAUSE_MS = 3_000
/** Answers that are no absence are faults of the service; after so many of them, another task is asked for. */
const FAULTS = 5
/** After these the next task is mostly a chunk of the same source. */
const BEFORE_ENCODE: readonly TaskKind[] = [TaskKind.TASK_KIND_PROBE, TaskKind.TASK_KIND_ENCODE]

export interface SlotTools extends TaskTools {
  workerId: string
  shelf: SourceShelf
  /** Shared by all slots. */
  memory: MemoryRoom
}

/** One task of these kinds after another, until the signal. Throws when another process has taken this worker's place. */
export async function runSlot(tools: SlotTools & { idle: IdleClock }, kinds: TaskKind[], stopping: AbortSignal): Promise<void> {
  const sources = tools.shelf.hold()
  try {
    await runTasks(tools, kinds, sources, stopping)
  } finally {
    await sources.drop()
  }
}

async function runTasks(
  tools: SlotTools & { idle: IdleClock },
  kinds: TaskKind[],
  sources: SourceHold,
  stopping: AbortSignal,
): Promise<void> {
  let failures = 0
  let faults = 0
  // Asked by the same name until there is an answer: an answer that was lost on its way has leased a task to it.
  let ask: string | undefined
  let lastJob: string | undefined
  while (!stopping.aborted) {
    ask ??= randomUUID()
    try {
      const task = await nextTask(tools, kinds, ask, stopping)
      failures = 0
      ask = undefined
      const giveBack = task ? tools.memory.take(memoryOf(task)) : undefined
      if (task && !giveBack) {
        // Another slot was faster: whoever has the room does it.
        await giveBackTask(tools.work, task, tools.log)
        continue
      }
      if (task?.jobId !== lastJob || task?.kind === TaskKind.TASK_KIND_PACKAGE) await sources.drop()
      lastJob = task?.jobId
      if (!task) continue
      const rest = tools.idle.work()
      const isDone = await runTask(tools, task, sources, stopping).finally(giveBack).finally(rest)
      if (!isDone || !BEFORE_ENCODE.includes(task.kind)) await sources.drop()
    } catch (error) {
      if (stopping.aborted) break
      if (isDomainError(error) && error.reason === 'WORKER_SUPERSEDED') throw error
      failures++
      // A task that cannot be answered at all is left to run out, which counts as an attempt.
      if (!(isDomainError(error) && error.kind === 'unavailable') && ++faults % FAULTS === 0) ask = undefined
      tools.log[failures === 3 ? 'warn' : 'debug']({ err: error }, 'no work to be had: asking again')
      const pause = Math.min(LONGEST_PAUSE_MS, 100 * 2 ** failures) * (0.5 + Math.random() / 2)
      await delay(pause, undefined, { signal: stopping }).catch(() => {})
    }
  }
  if (ask !== undefined) await giveBackAsk(tools.work, { workerId: tools.workerId, ask }, tools.log)
}

/** MiB; of tasks that are no chunks of a picture it is little, and not counted. */
function memoryOf({ kind, inputJson }: Task): number {
  return kind === TaskKind.TASK_KIND_ENCODE ? chunkMemoryMib((JSON.parse(inputJson) as EncodeInput).plan) : 0
}

async function nextTask(
  { work, workerId, memory }: SlotTools,
  kinds: TaskKind[],
  ask: string,
  stopping: AbortSignal,
): Promise<Task | undefined> {
  const memoryMib = memory.free()
  const request = { workerId, ask, waitSeconds: WAIT_SECONDS, kinds, planVersion, ...(memoryMib !== undefined && { memoryMib }) }
  const { task } = await work.leaseTask(request, serviceCall('worker', randomUUID(), stopping))
  return task
}
