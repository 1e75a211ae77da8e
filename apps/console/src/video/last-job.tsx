import { useQuery } from '@tanstack/react-query'
import type { Result, Schemas } from '@vitascope/sdk'
import { useSession } from '../api/session.tsx'
import { isActive, JOBS_KEY } from '../job/job-state.ts'
import { lazyPart } from '../layout/lazy-part.tsx'

const FailedJob = lazyPart(() => import('./failed-job.tsx').then((part) => part.FailedJob))

const ACTIVE_INTERVAL_MS = 3_000

/** Shows why the last job of a video failed, and retries it. */
export function LastJob({ video: { media_id, status } }: { video: Schemas['Video'] }) {
  const { api } = useSession()
  const { data } = useQuery<Result<'listJobs'>>({
    queryKey: [...JOBS_KEY, media_id, status.status, status.code],
    // The job of a replacement can fail without a change of the video.
    refetchInterval: ({ state }) => (state.data?.jobs.some(isActive) ? ACTIVE_INTERVAL_MS : false),
    queryFn: ({ signal }) => api.call('listJobs', { query: { media_id, limit: 1 }, signal }),
  })
  const job = data?.jobs[0]
  // A rendition that a later request replaced is not an error.
  const isShown = job?.state === 'failed' || (job?.state === 'cancelled' && status.status === 'failed')
  return job?.error && isShown ? <FailedJob job={job} error={job.error} stillPlays={status.status !== 'failed'} /> : null
}
