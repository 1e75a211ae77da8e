import { randomUUID } from 'node:crypto'
import { type Client, serviceCall } from '@vitascope/grpc'
import { setLayout } from '@vitascope/media'
import type { Db, OutboxHandlers } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import { isActive, type Job, requirePlan } from '../job/job.ts'
import { readJob } from '../job/job-store.ts'
import { JOB_PLAYABLE, type JobPlayable } from '../preview-playlist/report-playable.ts'

/**
 * Returns the outbox handler that reports a playable job to the catalogue. A repeated or late
 * report has no effect.
 */
export function playableReports({ db, jobs }: { db: Db; jobs: Client<typeof JobServiceService> }): OutboxHandlers {
  return {
    [JOB_PLAYABLE]: async ({ jobId }: JobPlayable, signal: AbortSignal) => {
      const job = await readJob(db.query, jobId)
      if (!job || !isActive(job.state)) return
      const update = { $case: 'playable', value: { preview: previewSet(job) } } as const
      await jobs.reportJob({ jobId, revision: 0, update }, serviceCall('encoding', randomUUID(), signal))
    },
  }
}

/**
 * Returns the preview set. Its objects lie below the prefixes of the chunks, and delivery requests
 * them by job.
 */
function previewSet(job: Job): RenditionSet {
  const { jobId, planNumber, probe } = job
  const { durationSeconds, video, audio } = requirePlan(job)
  const source = probe?.video
  return RenditionSet.fromPartial({
    jobId,
    prefix: `preview/${jobId}`,
    durationSeconds,
    width: video ? (source?.width ?? 0) : 0,
    height: video ? (source?.height ?? 0) : 0,
    hlsPath: setLayout.master,
    hasVideo: video !== undefined,
    hasAudio: audio !== undefined,
    planNumber,
  })
}
