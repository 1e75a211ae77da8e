import type { Outbox, Transaction } from '@vitascope/postgres'
import { type Job, requirePlan, toQueueKey } from '../job/job.ts'
import { trackKeys } from './preview-playlist.ts'
import { readTrack } from './preview-playlist-store.ts'

/** Outbox topic of the report that a job is playable. */
export const JOB_PLAYABLE = 'job.playable'

export interface JobPlayable {
  jobId: string
}

/**
 * Reports once that the start of a locked job is playable, when each of its tracks has a segment.
 * Call it in the transaction that adds segments. After the report it costs one lookup by primary
 * key.
 */
export async function reportPlayable(tx: Transaction, outbox: Outbox, job: Pick<Job, 'jobId' | 'kind' | 'plan'>): Promise<void> {
  const { jobId, kind } = job
  // An added rendition is playable only when it is complete.
  if (kind !== 'renditions') return
  const [reported] = await tx.query('select 1 from job where job_id = $1 and is_playable', [jobId])
  if (reported) return
  for (const key of trackKeys(requirePlan(job))) if (!(await readTrack(tx.query, jobId, key))) return
  await tx.query('update job set is_playable = true where job_id = $1', [jobId])
  const key = toQueueKey(jobId)
  // Segments are added outside of a trace, because there are many. The report belongs to the trace of the job.
  const [item] = await tx.query<{ traceparent: string | null }>(
    'select traceparent from work_item where key = $1 order by item_id limit 1',
    [key],
  )
  const traceparent = item?.traceparent ?? undefined
  await outbox.enqueue(tx, { topic: JOB_PLAYABLE, key, payload: { jobId } satisfies JobPlayable, traceparent })
}
