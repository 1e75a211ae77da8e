import { isDomainError } from '@vitascope/errors'
import type { Job } from '@vitascope/proto/catalogue/v1/job'
import type { Job as EncodingJob } from '@vitascope/proto/encoding/v1/job'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { id, idField, int, oneOf, organisationIdField } from '../../server/schema/fields.ts'
import { nextLink, positionQuery, toPosition } from '../../server/schema/pagination.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { QUOTA_ERRORS } from '../shared/quota-errors.ts'
import { queriedOrganisation } from '../shared/resolve-organisation.ts'
import {
  JobResponse,
  jobResponse,
  ListedJobResponse,
  listedJobResponse,
  RetriedJobResponse,
  retriedJobResponse,
  STATE_FILTERS,
  toJobStates,
} from './job-response.ts'

export const listJobs = route({
  get: ['/job'],
  operationId: 'listJobs',
  section: 'Jobs',
  access: 'user',
  summary: 'List encode jobs',
  description: `Returns the jobs of the user's own organisation, the latest first, and the number of those that have not ended. A system key
sees the jobs of all organisations, or of the one in \`organisation_id\`. The list has no plans and no renditions; read a job for these.`,
  query: z.object({
    organisation_id: organisationIdField().optional(),
    media_id: idField('media', { description: 'Id of the media whose jobs to list.' }).optional(),
    state: oneOf(STATE_FILTERS, { description: 'State of the jobs. `active`: queued or running.' }).optional(),
    ...positionQuery,
    limit: int({ min: 1, max: 100 }, { description: 'Maximum number of jobs.' }).default(50),
  }),
  response: z.object({
    jobs: z.array(ListedJobResponse),
    queued: schema.int('Queued jobs of the organisation, or of all. At most 10,000 active jobs are counted.', 3),
    running: schema.int('Running jobs of the organisation, or of all.', 2),
  }),
  async handle({ query: { organisation_id, media_id, state, ...query } }, { caller, services, call, publicUrl }) {
    const organisationId = queriedOrganisation(caller, organisation_id)
    const { limit } = query
    const request = { organisationId: organisationId ?? '', mediaId: media_id ?? '', states: toJobStates(state), jobIds: [] }
    const { jobs, nextPageToken, queued, running } = await services.jobs.listJobs(
      { ...request, pageSize: limit, ...toPosition(query) },
      call,
    )
    const headers = nextLink(publicUrl, '/job', {
      ...query,
      nextCursor: nextPageToken,
      query: { organisation_id: organisationId, media_id, state },
    })
    return new Reply({ jobs: jobs.map(listedJobResponse), queued, running }, { headers })
  },
})

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

export const jobRoutes = [listJobs, getJob, cancelJob, retryJob]

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
