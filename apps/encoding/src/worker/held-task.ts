import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { type Call, type Client, serviceCall } from '@vitascope/grpc'
import type { Task, WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import type { Logger } from '@vitascope/telemetry'
import type { Fault } from '../job/job.ts'
import type { StoredFile } from '../work/task.ts'
import { giveBackTask } from './give-back.ts'

/** A task in this worker's hands: renewed at intervals, told how far it is, and ended in one of three ways. */
export interface HeldTask {
  /** Aborts when the lease is over: stop, and discard. */
  lost: AbortSignal
  /** How far the task is, 0 to 1. */
  done(share: number): void
  /** Tells of files, again and again until it is answered; throws when the lease is over. */
  addFiles(files: readonly StoredFile[], signal: AbortSignal): Promise<void>
  /** Each is repeated until it is answered; false when the lease was over. */
  complete(result: unknown, signal: AbortSignal): Promise<boolean>
  fail(fault: Fault, signal: AbortSignal): Promise<boolean>
  /** Once, and shortly: this worker is about to end. */
  release(): Promise<void>
  stop(): void
}

/** Progress is told at most twice a second. */
const PROGRESS_MS = 500
const BEAT_DEADLINE_MS = 5_000
const LONGEST_PAUSE_MS = 5_000
/** Answers that are no refusal and no absence are faults of the service: it may recover, or not. */
const FAULTS = 5

export function holdTask(work: Client<typeof WorkServiceService>, task: Task, beatMs: number, log: Logger): HeldTask {
  const lease = { taskId: task.taskId, attempt: task.attempt }
  const lost = new AbortController()
  let share = 0
  let beating = false
  let lastBeat = performance.now()

  const beat = async () => {
    if (beating || lost.signal.aborted) return
    beating = true
    lastBeat = performance.now()
    try {
      await work.beatTask({ ...lease, done: share }, callWithin(BEAT_DEADLINE_MS))
    } catch (error) {
      // A service that is away cannot take the task from us either: the work goes on.
      if (isLeaseLost(error)) lost.abort(new Error('the lease is over'))
      else log.warn({ err: error, task: task.taskId }, 'a lease could not be renewed')
    } finally {
      beating = false
    }
  }
  const timer = setInterval(() => void beat(), beatMs)

  const settle = async (call: (call: Call) => Promise<unknown>, signal: AbortSignal): Promise<boolean> => {
    for (let faults = 0, tries = 1; ; tries++) {
      try {
        await call(serviceCall('worker', randomUUID(), signal))
        return true
      } catch (error) {
        if (signal.aborted) throw error
        if (isLeaseLost(error)) return false
        if (!isDomainError(error) || error.kind !== 'unavailable') faults++
        if (faults >= FAULTS) throw error
        log.warn({ err: error, task: task.taskId, tries }, 'news of a task could not be told: telling it again')
        await delay(Math.min(LONGEST_PAUSE_MS, 100 * 2 ** tries), undefined, { signal })
      }
    }
  }

  return {
    lost: lost.signal,
    done(now) {
      share = Math.min(1, Math.max(share, now))
      if (performance.now() - lastBeat >= PROGRESS_MS) void beat()
    },
    async addFiles(files, signal) {
      const segments = files.map(({ seconds = 0, ...file }) => ({ ...file, seconds }))
      if (await settle((call) => work.addSegments({ ...lease, files: segments }, call), signal)) return
      lost.abort(new Error('the lease is over'))
      lost.signal.throwIfAborted()
    },
    complete: (result, signal) => settle((call) => work.completeTask({ ...lease, resultJson: JSON.stringify(result) }, call), signal),
    fail: (fault, signal) => settle((call) => work.failTask({ ...lease, ...fault }, call), signal),
    release: () => giveBackTask(work, task, log),
    stop: () => clearInterval(timer),
  }
}

function callWithin(ms: number): Call {
  return { ...serviceCall('worker', randomUUID()), deadline: new Date(Date.now() + ms) }
}

function isLeaseLost(error: unknown): boolean {
  return isDomainError(error) && error.reason === 'LEASE_LOST'
}
