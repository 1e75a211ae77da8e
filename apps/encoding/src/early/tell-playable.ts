import type { EncodePlan } from '@vitascope/media'
import type { Outbox, Transaction } from '@vitascope/postgres'
import { type Job, keyOfJob } from '../job/job.ts'
import { trackKeys } from './early-playlists.ts'
import { readTrack } from './early-store.ts'

/** The outbox topic of the report that a job can be watched. */
export const JOB_PLAYABLE = 'job.playable'

export interface JobPlayable {
  jobId: string
}

/**
 * Tells, once, that the beginning of a locked job can be watched: each of its tracks has a segment. To be called where segments have come,
 * in the same transaction; one look by primary key once it is told.
 */
export async function tellPlayable(
  tx: Transaction,
  outbox: Outbox,
  { jobId, kind, plan }: Pick<Job, 'jobId' | 'kind' | 'plan'>,
): Promise<void> {
  // What is added to a set is watched once it is whole.
  if (kind !== 'renditions') return
  const [told] = await tx.query('select 1 from job where job_id = $1 and is_playable', [jobId])
  if (told) return
  for (const key of trackKeys(plan as EncodePlan)) if (!(await readTrack(tx.query, jobId, key))) return
  await tx.query('update job set is_playable = true where job_id = $1', [jobId])
  await outbox.enqueue(tx, { topic: JOB_PLAYABLE, key: keyOfJob(jobId), payload: { jobId } satisfies JobPlayable })
}
