import { invalid, requireValid } from '@vitascope/errors'
import type { ReportJobRequest } from '@vitascope/proto/catalogue/v1/job'
import type { SlideSet as SetMessage } from '@vitascope/proto/catalogue/v1/slide_set'
import type { NonMediaJobReports } from '../publishing/job-rpc.ts'
import type { SlideSet, SlideUpdate } from './slide-job.ts'
import type { SlideJobStore } from './slide-job-store.ts'

/** Returns the part of the job service that handles reports about slide jobs. */
export function slideJobReports(slideJobs: Pick<SlideJobStore, 'apply' | 'findNeeded' | 'findUsedPrefixes'>): NonMediaJobReports {
  return {
    async apply(report, signal) {
      const update = toSlideUpdate(report)
      return update && slideJobs.apply(report.jobId, update, report.revision, signal)
    },
    findNeeded: slideJobs.findNeeded,
    findUsedPrefixes: slideJobs.findUsedPrefixes,
  }
}

/** Returns the update in a report about a slide job, or undefined if only other kinds of jobs have such an update. */
function toSlideUpdate({ jobId, update }: ReportJobRequest): SlideUpdate | undefined {
  switch (update?.$case) {
    case 'progress':
      return { kind: 'progress', percent: update.value.percent }
    case 'slidesMade':
      return { kind: 'slides', set: checkSet(jobId, update.value.slides) }
    case 'failed':
      return { kind: 'failed', code: update.value.code, message: update.value.message }
    default:
      return undefined
  }
}

/** Returns the set. Throws `invalid` if a file is missing or if the set belongs to another job. */
function checkSet(jobId: string, set: SetMessage | undefined): SlideSet {
  if (!set) throw invalid([{ field: 'slides_made.slides', message: 'is missing' }])
  const hasFiles = set.slides.every(({ path, thumbnailPath }) => path !== '' && thumbnailPath !== '') && set.documentPath !== ''
  const problems = [
    ...(set.jobId === jobId ? [] : [{ field: 'slides_made.slides.job_id', message: 'must be the job of the report' }]),
    ...(set.prefix === '' || set.prefix.endsWith('/')
      ? [{ field: 'slides_made.slides.prefix', message: 'must be a folder, without a slash at the end' }]
      : []),
    ...(set.slides.length === 0 || !hasFiles ? [{ field: 'slides_made.slides.slides', message: 'are required, with their files' }] : []),
  ]
  requireValid(problems)
  return set
}
