import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '@vitascope/concurrency'
import { isDomainError } from '@vitascope/errors'
import { type Call, type Client, serviceCall } from '@vitascope/grpc'
import type { Task, WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import { type Logger, untraced } from '@vitascope/telemetry'
import type { Fault } from '../task/fault.ts'
import type { StoredFile, TaskResult } from '../task/task.ts'
import { toResultMessage } from '../task/task-message.ts'
import { releaseTask } from './release-task.ts'

/**
 * The lease of a task. It is renewed at intervals with the progress of the task, and ends with
 * `complete`, `fail` or `release`.
 */
export interface TaskLease {
  /** Aborts when the lease is lost. The task must stop and discard its results. */
  lost: AbortSignal
  /** Sets the progress of the task, 0 to 1. */
  setProgress(progress: number): void
  /** Reports files, with retries. Throws when the lease is over. */
  addFiles(files: readonly StoredFile[], signal: AbortSignal): Promise<void>
  /** Reports the result, with retries. Returns false if the lease was over. */
  complete(result: TaskResult, signal: AbortSignal): Promise<boolean>
  /** Reports a fault, with retries. Returns false if the lease was over. */
  fail(fault: Fault, signal: AbortSignal): Promise<boolean>
  /** Releases the task, with retries for two seconds only, because this worker is about to end. */
  release(): Promise<void>
  /** Stops the renewals. */
  stop(): void
}

/** Progress is reported at most twice per second. */
const MIN_PROGRESS_INTERVAL_MS = 500
const EXTEND_TIMEOUT_MS = 5_000
const MAX_PAUSE_MS = 5_000
/**
 * Number of errors after which a report is not retried. A lost lease and `unavailable` do not
 * count.
 */
const MAX_ERRORS = 5

export function keepLease(work: Client<typeof WorkServiceService>, task: Task, heartbeatMs: number, log: Logger): TaskLease {
  const lease = { taskId: task.taskId, fence: task.fence }
  const lost = new AbortController()
  let progress = 0
  let isExtending = false
  let extendedAt = performance.now()

  // Renewals are frequent and say nothing about the task, so its trace has none.
  const extend = () => untraced(renew)
  const renew = async () => {
    if (isExtending || lost.signal.aborted) return
    isExtending = true
    extendedAt = performance.now()
    try {
      await work.extendTaskLease({ ...lease, done: progress }, callWithDeadline(EXTEND_TIMEOUT_MS))
    } catch (error) {
      // If the service is unavailable, it cannot lease the task to another worker either, so the
      // work continues.
      if (isLeaseLost(error)) lost.abort(new Error('the lease is over'))
      else log.warn({ err: error, task_id: task.taskId }, 'renewing a lease failed')
    } finally {
      isExtending = false
    }
  }
  const timer = setInterval(() => void extend(), heartbeatMs)

  const callWithRetries = async (call: (call: Call) => Promise<unknown>, signal: AbortSignal): Promise<boolean> => {
    for (let errors = 0, tries = 1; ; tries++) {
      try {
        await call(serviceCall('worker', randomUUID(), signal))
        return true
      } catch (error) {
        if (signal.aborted) throw error
        if (isLeaseLost(error)) return false
        if (!isDomainError(error) || error.kind !== 'unavailable') errors++
        if (errors >= MAX_ERRORS) throw error
        log.warn({ err: error, task_id: task.taskId, tries }, 'reporting to the encoding service failed; retrying')
        await delay(backoffMs(tries, { minMs: 200, maxMs: MAX_PAUSE_MS }), undefined, { signal })
      }
    }
  }

  return {
    lost: lost.signal,
    setProgress(now) {
      progress = Math.min(1, Math.max(progress, now))
      if (performance.now() - extendedAt >= MIN_PROGRESS_INTERVAL_MS) void extend()
    },
    async addFiles(files, signal) {
      const segments = files.map(({ seconds = 0, ...file }) => ({ ...file, seconds }))
      // A long job has thousands of these calls, which would exceed the size of a trace that receivers store.
      const add = () => callWithRetries((call) => work.addSegments({ ...lease, files: segments }, call), signal)
      if (await untraced(add)) return
      lost.abort(new Error('the lease is over'))
      lost.signal.throwIfAborted()
    },
    complete: (result, signal) => callWithRetries((call) => work.completeTask({ ...lease, result: toResultMessage(result) }, call), signal),
    fail: (fault, signal) => callWithRetries((call) => work.failTask({ ...lease, ...fault }, call), signal),
    release: () => releaseTask(work, task, log),
    stop: () => clearInterval(timer),
  }
}

function callWithDeadline(ms: number): Call {
  return { ...serviceCall('worker', randomUUID()), deadline: new Date(Date.now() + ms) }
}

function isLeaseLost(error: unknown): boolean {
  return isDomainError(error) && error.reason === 'LEASE_LOST'
}
