import { invalid, requireValid } from '@vitascope/errors'
import type { ReportJobRequest } from '@vitascope/proto/catalogue/v1/job'
import type { PosterSet as SetMessage } from '@vitascope/proto/catalogue/v1/poster_set'
import type { NonMediaJobReports } from '../publishing/job-rpc.ts'
import type { PosterSet, PosterUpdate } from './poster.ts'
import type { PosterStore } from './poster-store.ts'

/** Returns the part of the job service that handles reports about poster jobs. */
export function posterJobReports(posters: Pick<PosterStore, 'apply' | 'findNeeded' | 'findUsedPrefixes'>): NonMediaJobReports {
  return {
    async apply(report, signal) {
      const update = toPosterUpdate(report)
      return update && posters.apply(report.jobId, update, report.revision, signal)
    },
    findNeeded: posters.findNeeded,
    findUsedPrefixes: posters.findUsedPrefixes,
  }
}

/** Returns the update in a report, or undefined if only other kinds of jobs have such an update. */
function toPosterUpdate({ jobId, update }: ReportJobRequest): PosterUpdate | undefined {
  switch (update?.$case) {
    case 'progress':
      return { kind: 'progress' }
    case 'posterMade':
      return { kind: 'created', set: checkSet(jobId, update.value.poster) }
    case 'failed':
      return { kind: 'failed', code: update.value.code, message: update.value.message }
    default:
      return undefined
  }
}

/** Returns the set. Throws `invalid` if a file is missing, the prefix is invalid, or the set belongs to another job. */
function checkSet(jobId: string, set: SetMessage | undefined): PosterSet {
  if (!set) throw invalid([{ field: 'poster_made.poster', message: 'is missing' }])
  const { poster, thumbnail } = set
  if (!poster || !thumbnail) throw invalid([{ field: 'poster_made.poster', message: 'must contain poster and thumbnail' }])
  const problems = [
    ...(set.jobId === jobId ? [] : [{ field: 'poster_made.poster.job_id', message: 'must be the job of the report' }]),
    ...(set.prefix === '' || set.prefix.endsWith('/')
      ? [{ field: 'poster_made.poster.prefix', message: 'must be a folder, without a slash at the end' }]
      : []),
  ]
  requireValid(problems)
  return { jobId, prefix: set.prefix, poster, thumbnail }
}
