import { isDomainError } from '@vitascope/errors'
import type { Job } from '@vitascope/proto/catalogue/v1/job'
import type { Job as EncodingJob } from '@vitascope/proto/encoding/v1/job'
import { z } from 'zod'
import { type Context, route } from '../../server/route/route.ts'
import { id } from '../../server/schema/fields.ts'
import { required } from '../../server/schema/response-format.ts'
import { QUOTA_ERRORS } from '../shared/quota-errors.ts'
import { JobResponse, jobResponse, RetriedJobResponse, retriedJobResponse } from './job-response.ts'

export const getJob = route({
  get: ['/job/:jobId'],
  operationId: 'getJob',
  section: 'Jobs',
  access: 'user',
  summary: 'Read a job',
  description: 'Returns the state, progress, plan and renditions of an encode job.',
  params: z.object({ jobId: id('job') }),
  response: JobResponse,
  async handle({ params }, context) {
    const { job } = await context.services.jobs.getJob({ jobId: params.jobId }, context.call)
    return await withEncodingJob(required(job, 'job'), context)
  },
})

export const cancelJob = route({
  delete: ['/job/:jobId'],
  operationId: 'cancelJob',
  section: 'Jobs',
  access: 'user',
  summary: 'Cancel a job',
  description:
    'The video becomes `failed` with code 4005. If the job replaced a source or added a rendition, the video keeps playing as before.',
  params: z.object({ jobId: id('job') }),
  status: 202,
  response: JobResponse,
  errorCodes: { job_finished: 'The job has already ended.' },
  async handle({ params }, context) {
    const { job } = await context.services.jobs.cancelJob({ jobId: params.jobId }, context.call)
    return await withEncodingJob(required(job, 'job'), context)
  },
})

export const retryJob = route({
  post: ['/job/:jobId/retry'],
  operationId: 'retryJob',
  section: 'Jobs',
  access: 'user',
  cost: 'work',
  summary: 'Retry a failed job',
  description:
    'Creates a new job for the work of the failed or cancelled job, from the same source: a video, its replacement, or one ' +
    'rendition. The playable files are not changed until it ends.',
  params: z.object({ jobId: id('job') }),
  status: 202,
  response: RetriedJobResponse,
  errorCodes: {
    job_not_failed: 'The job is active or has succeeded.',
    job_overtaken: 'A later job replaced this one, or the rendition already exists.',
    ...QUOTA_ERRORS,
  },
  async handle({ params }, context) {
    return retriedJobResponse(await context.services.jobs.retryJob({ jobId: params.jobId }, context.call))
  },
})

export const jobRoutes = [getJob, cancelJob, retryJob]

async function withEncodingJob(job: Job, context: Context) {
  return jobResponse(job, await findEncodingJob(job.jobId, context))
}

/** Returns encoding's part of a job, or undefined until the job was sent to encoding. */
async function findEncodingJob(jobId: string, { services, call }: Context): Promise<EncodingJob | undefined> {
  try {
    return (await services.encodingJobs.getJob({ jobId }, call)).job
  } catch (error) {
    if (isDomainError(error) && error.kind === 'not_found') return undefined
    throw error
  }
}
