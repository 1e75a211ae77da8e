import type { Db } from '@vitascope/postgres'
import type { Enqueue } from '../publishing/job/job-messages.ts'
import { createStaleJobs, type StaleJobs } from '../publishing/job/stale-jobs-store.ts'
import { enqueueSlides, SLIDES_CREATED, type SlideJobRequest, toOutboxKey } from './slide-job-messages.ts'

interface Row {
  presentation_id: string
  organisation_id: string
  source_object: string
  source_bytes: string
}

/** Returns the stale jobs that make the slides of a presentation. */
export function createStaleSlideJobs(db: Db, enqueue: Enqueue): StaleJobs<SlideJobRequest> {
  return createStaleJobs<SlideJobRequest, Row>(db, {
    table: 'presentation_job',
    columns: ['presentation_id', 'organisation_id', 'source_object', 'source_bytes'],
    toJob: (row) => ({
      jobId: row.job_id,
      presentationId: row.presentation_id,
      organisationId: row.organisation_id,
      sourceObject: row.source_object,
      sourceBytes: Number(row.source_bytes),
    }),
    topic: SLIDES_CREATED,
    getKey: ({ presentationId }) => toOutboxKey(presentationId),
    enqueue: (tx, job) => enqueueSlides(enqueue, tx, job),
  })
}
