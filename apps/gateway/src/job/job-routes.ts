import { isDomainError } from '@vitascope/errors'
import type { Job } from '@vitascope/proto/catalogue/v1/job'
import type { Job as EncodingJob } from '@vitascope/proto/encoding/v1/job'
import { z } from 'zod'
import { id } from '../fields.ts'
import { given } from '../public-form.ts'
import { type Context, route } from '../route.ts'
import { QUOTA_REFUSALS } from '../video/quota-refusals.ts'
import { JobRecord, jobView, RetriedJob, retriedView } from './job-view.ts'

export const getJob = route({
  get: ['/job/:jobId'],
  section: 'Added',
  access: 'user',
  summary: 'Read a job',
  params: z.object({ jobId: id('job') }),
  answer: JobRecord,
  async handle({ params }, context) {
    const { job } = await context.services.jobs.getJob({ jobId: params.jobId }, context.call)
    return await withWork(given(job, 'job'), context)
  },
})

export const cancelJob = route({
  delete: ['/job/:jobId'],
  section: 'Added',
  access: 'user',
  summary: 'Cancel a job',
  description: 'The video is `failed` with code 4005; one that was being replaced, or given a rendition more, plays on as before.',
  params: z.object({ jobId: id('job') }),
  status: 202,
  answer: JobRecord,
  refusals: { job_finished: 'it has ended already' },
  async handle({ params }, context) {
    const { job } = await context.services.jobs.cancelJob({ jobId: params.jobId }, context.call)
    return await withWork(given(job, 'job'), context)
  },
})

export const retryJob = route({
  post: ['/job/:jobId/retry'],
  section: 'Added',
  access: 'user',
  cost: 'work',
  summary: 'Try a failed job again',
  description:
    'A new job makes what the failed or cancelled one was to make, from the same source: a video, its replacement, or one rendition. What plays goes on playing.',
  params: z.object({ jobId: id('job') }),
  status: 202,
  answer: RetriedJob,
  refusals: {
    job_not_failed: 'it is under way, or done',
    job_overtaken: 'a later job took its place, or the rendition is there',
    ...QUOTA_REFUSALS,
  },
  async handle({ params }, context) {
    return retriedView(await context.services.jobs.retryJob({ jobId: params.jobId }, context.call))
  },
})

export const jobRoutes = [getJob, cancelJob, retryJob]

async function withWork(job: Job, context: Context) {
  return jobView(job, await findWork(job.jobId, context))
}

/** Undefined until the job is handed over to encoding. */
async function findWork(jobId: string, { services, call }: Context): Promise<EncodingJob | undefined> {
  try {
    return (await services.encodingJobs.getJob({ jobId }, call)).job
  } catch (error) {
    if (isDomainError(error) && error.kind === 'not_found') return undefined
    throw error
  }
}
