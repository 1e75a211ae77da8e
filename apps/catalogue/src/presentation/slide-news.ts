import { invalid } from '@vitascope/errors'
import type { ReportJobRequest } from '@vitascope/proto/catalogue/v1/job'
import type { SlideSet as SetMessage } from '@vitascope/proto/catalogue/v1/slide_set'
import type { SlideNews, SlideSet } from './slide-job.ts'

/** What a report says of a job that makes slides; undefined for news that only another kind of job has. */
export function toSlideNews({ jobId, news }: ReportJobRequest): SlideNews | undefined {
  switch (news?.$case) {
    case 'progress':
      return { kind: 'progress', percent: news.value.percent }
    case 'slidesMade':
      return { kind: 'slides', set: checkSet(jobId, news.value.slides) }
    case 'failed':
      return { kind: 'failed', code: news.value.code, message: news.value.message }
    default:
      return undefined
  }
}

/** A set that could not be shown must not become a part of a presentation. */
function checkSet(jobId: string, set: SetMessage | undefined): SlideSet {
  if (!set) throw invalid([{ field: 'slides_made.slides', message: 'is missing' }])
  const isNamed = set.slides.every(({ path, thumbnailPath }) => path !== '' && thumbnailPath !== '') && set.documentPath !== ''
  const problems = [
    ...(set.jobId === jobId ? [] : [{ field: 'slides_made.slides.job_id', message: 'must be the job of the report' }]),
    ...(set.prefix === '' || set.prefix.endsWith('/')
      ? [{ field: 'slides_made.slides.prefix', message: 'must be a folder, without a slash at the end' }]
      : []),
    ...(set.slides.length === 0 || !isNamed ? [{ field: 'slides_made.slides.slides', message: 'must be there, with their files' }] : []),
  ]
  if (problems.length > 0) throw invalid(problems)
  return set
}
