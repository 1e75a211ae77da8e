import type { Db } from '@vitascope/postgres'
import { type Enqueue, toOutboxKey } from '../publishing/job/job-messages.ts'
import { createStaleJobs, type StaleJobs } from '../publishing/job/stale-jobs-store.ts'
import { enqueuePoster, POSTER_CREATED, type PosterJobRequest } from './poster-job-messages.ts'

interface Row {
  media_id: string
  organisation_id: string
  source_url: string | null
  source_set_job_id: string | null
  at_seconds: number | null
}

/** Returns the stale jobs that convert pictures. */
export function createStalePosterJobs(db: Db, enqueue: Enqueue): StaleJobs<PosterJobRequest> {
  return createStaleJobs<PosterJobRequest, Row>(db, {
    table: 'poster',
    columns: ['media_id', 'organisation_id', 'source_url', 'source_set_job_id', 'at_seconds'],
    toJob: (row) => ({
      jobId: row.job_id,
      mediaId: row.media_id,
      organisationId: row.organisation_id,
      ...(row.source_set_job_id !== null && row.at_seconds !== null
        ? { frame: { setJobId: row.source_set_job_id, atSeconds: row.at_seconds } }
        : { sourceUrl: row.source_url ?? '' }),
    }),
    topic: POSTER_CREATED,
    getKey: ({ mediaId }) => toOutboxKey(mediaId),
    enqueue: (tx, job) => enqueuePoster(enqueue, tx, job),
  })
}
