import type { Transaction } from '@vitascope/postgres'
import type { Enqueue } from '../job/job-messages.ts'
import type { SlideJobState } from './slide-job.ts'
import { enqueueSlidesCancelled } from './slide-job-messages.ts'

/** Ends the jobs of a locked presentation that goes away: the one that stands is cancelled, and encoding drops what the others made. */
export async function endSlideJobs(tx: Transaction, enqueue: Enqueue, presentationId: string): Promise<void> {
  const jobs = await tx.query<{ job_id: string; state: SlideJobState }>(
    `update presentation_job set source_object = null, finish_time = coalesce(finish_time, now()),
       state = case when state in ('queued', 'running') then 'cancelled' else state end
     where presentation_id = $1 returning job_id, state`,
    [presentationId],
  )
  for (const { job_id: jobId, state } of jobs) if (state !== 'failed') await enqueueSlidesCancelled(enqueue, tx, { jobId, presentationId })
}
