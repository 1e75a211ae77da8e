import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { serviceCall } from '@vitascope/grpc'
import type { Task } from '@vitascope/proto/encoding/v1/work'
import { runTask, type TaskTools } from './run-task.ts'

/** Below the ten seconds that a call may last. */
const WAIT_SECONDS = 8
const LONGEST_PAUSE_MS = 3_000

/** One task after another, until the signal. Throws when another process has taken this worker's place. */
export async function runSlot(tools: TaskTools & { workerId: string }, stopping: AbortSignal): Promise<void> {
  let failures = 0
  while (!stopping.aborted) {
    try {
      const task = await nextTask(tools, stopping)
      failures = 0
      if (task) await runTask(tools, task, stopping)
    } catch (error) {
      if (stopping.aborted) return
      if (isDomainError(error) && error.reason === 'WORKER_SUPERSEDED') throw error
      failures++
      tools.log[failures === 3 ? 'warn' : 'debug']({ err: error }, 'no work to be had: asking again')
      const pause = Math.min(LONGEST_PAUSE_MS, 100 * 2 ** failures) * (0.5 + Math.random() / 2)
      await delay(pause, undefined, { signal: stopping }).catch(() => {})
    }
  }
}

async function nextTask({ work, workerId }: TaskTools & { workerId: string }, stopping: AbortSignal): Promise<Task | undefined> {
  const { task } = await work.leaseTask({ workerId, waitSeconds: WAIT_SECONDS }, serviceCall('worker', randomUUID(), stopping))
  return task
}
