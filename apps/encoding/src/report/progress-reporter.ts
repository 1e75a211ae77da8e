import { randomUUID } from 'node:crypto'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import type { Logger } from '@vitascope/telemetry'
import { nextReport } from '../job/job-store.ts'

/** Tells catalogue how far jobs are, at most about once a second for each; a report that does not arrive is made up for by the next. */
export interface ProgressReporter {
  /** The progress of a job may have changed. */
  changed(jobId: string): void
  stop(): Promise<void>
}

export interface ProgressTools {
  db: Db
  jobs: Client<typeof JobServiceService>
  /** Called for a job that catalogue does not want any more. */
  onUnwanted: (jobId: string) => Promise<void>
  log: Logger
  intervalMs?: number
}

export function createProgressReporter({ db, jobs, onUnwanted, log, intervalMs = 1_000 }: ProgressTools): ProgressReporter {
  const stopping = new AbortController()
  /** Jobs in their pause, and whether something changed meanwhile. */
  const pausing = new Map<string, { timer: NodeJS.Timeout; isDue: boolean }>()
  const running = new Set<Promise<void>>()
  const told = new Map<string, number>()

  const report = async (jobId: string) => {
    try {
      const next = await nextReport(db.query, jobId)
      if (!next || told.get(jobId) === next.progress) return
      const news = { $case: 'progress', value: { percent: next.progress } } as const
      const call = serviceCall('encoding', randomUUID(), stopping.signal)
      const { wanted } = await jobs.reportJob({ jobId, revision: Number(next.revision), news }, call)
      // Where the pause is over already, nobody would take it out again.
      if (pausing.has(jobId)) told.set(jobId, next.progress)
      if (!wanted) await onUnwanted(jobId)
    } catch (error) {
      if (!stopping.signal.aborted) log.debug({ err: error, job: jobId }, 'a progress report did not arrive')
    }
  }
  const begin = (jobId: string) => {
    const run = report(jobId).finally(() => running.delete(run))
    running.add(run)
    const timer = setTimeout(() => {
      const isDue = pausing.get(jobId)?.isDue ?? false
      pausing.delete(jobId)
      if (isDue) begin(jobId)
      else told.delete(jobId)
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
