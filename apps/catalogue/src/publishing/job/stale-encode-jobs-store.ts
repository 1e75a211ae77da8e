import type { Db } from '@vitascope/postgres'
import { toJobLimits } from '../../quota/quota.ts'
import { type Enqueue, enqueueCreated, JOB_CREATED, type JobRequest, toOutboxKey } from './job-messages.ts'
import { createStaleJobs, type StaleJobs } from './stale-jobs-store.ts'

interface Row {
  media_id: string
  organisation_id: string
  source_url: string
  max_bytes: string | null
  max_ms: string | null
  set_job_id: string | null
  profile_id: number | null
  low_priority: boolean
}

/** Returns the store of the stale jobs that encode a media. `enqueue` adds a message to the outbox. */
export function createStaleEncodeJobs(db: Db, enqueue: Enqueue): StaleJobs<JobRequest> {
  return createStaleJobs<JobRequest, Row>(db, {
    table: 'job',
    columns: ['media_id', 'organisation_id', 'source_url', 'max_bytes', 'max_ms', 'set_job_id', 'profile_id', 'low_priority'],
    toJob: (row) => ({
      jobId: row.job_id,
      mediaId: row.media_id,
      organisationId: row.organisation_id,
      sourceUrl: row.source_url,
      lowPriority: row.low_priority,
      ...toJobLimits({ maxBytes: toNumber(row.max_bytes), maxMs: toNumber(row.max_ms) }),
      ...(row.set_job_id !== null && row.profile_id !== null && { rendition: { setJobId: row.set_job_id, profileId: row.profile_id } }),
    }),
    topic: JOB_CREATED,
    getKey: ({ mediaId }) => toOutboxKey(mediaId),
    enqueue: (tx, job) => enqueueCreated(enqueue, tx, job),
  })
}

function toNumber(text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}
