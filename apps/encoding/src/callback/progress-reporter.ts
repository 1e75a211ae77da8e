import { randomUUID } from 'node:crypto'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import type { Logger } from '@vitascope/telemetry'
import { nextProgressReport } from '../job/job-store.ts'

/**
 * Reports the progress of jobs to the catalogue, at most about once per second and job. A lost
 * report is superseded by the next one.
 */
export interface ProgressReporter {
  /** Call this when the progress of a job may have changed. */
  changed(jobId: string): void
  stop(): Promise<void>
}

export interface ProgressTools {
  db: Db
  jobs: Client<typeof JobServiceService>
  /** Called for a job that the catalogue no longer needs. */
  onUnneeded: (jobId: string) => Promise<void>
  log: Logger
  intervalMs?: number
}

export function createProgressReporter({ db, jobs, onUnneeded, log, intervalMs = 1_000 }: ProgressTools): ProgressReporter {
  const stopping = new AbortController()
  /** Jobs that were reported within the interval, and whether a change is pending. */
  const pausing = new Map<string, { timer: NodeJS.Timeout; isDue: boolean }>()
  const running = new Set<Promise<void>>()
  const reported = new Map<string, number>()

  const report = async (jobId: string) => {
    try {
      const next = await nextProgressReport(db.query, jobId)
      if (!next || reported.get(jobId) === next.progress) return
      const update = { $case: 'progress', value: { percent: next.progress, sourceMs: next.sourceMs ?? undefined } } as const
      const call = serviceCall('encoding', randomUUID(), stopping.signal)
      const { needed } = await jobs.reportJob({ jobId, revision: Number(next.revision), update }, call)
      // The timer of the pause removes the entry, so after the pause none is added.
      if (pausing.has(jobId)) reported.set(jobId, next.progress)
      if (!needed) await onUnneeded(jobId)
    } catch (error) {
      if (!stopping.signal.aborted) log.debug({ err: error, job_id: jobId }, 'sending a progress report failed')
    }
  }
  const begin = (jobId: string) => {
    const run = report(jobId).finally(() => running.delete(run))
    running.add(run)
    const timer = setTimeout(() => {
      const isDue = pausing.get(jobId)?.isDue ?? false
      pausing.delete(jobId)
      if (isDue) begin(jobId)
      else reported.delete(jobId)
    }, intervalMs)
    pausing.set(jobId, { timer, isDue: false })
  }

  return {
    changed(jobId) {
      if (stopping.signal.aborted) return
      const pause = pausing.get(jobId)
      if (pause) pause.isDue = true
      else begin(jobId)
    },
    async stop() {
      stopping.abort()
      for (const { timer } of pausing.values()) clearTimeout(timer)
      pausing.clear()
      await Promise.all(running)
    },
  }
}
