import type { QueueJob } from '@vitascope/proto/encoding/v1/queue_job'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { field, reject } from '../../server/schema/field.ts'
import { id, int, text } from '../../server/schema/fields.ts'
import { formatOptionalTimestamp, locationHeader, schema } from '../../server/schema/response-format.ts'

const section = 'Work queue'
const maxDataBytes = 65_536
const noData = `must be JSON text of at most ${maxDataBytes} bytes`

const data = field(
  (value) => {
    if (typeof value !== 'string') return reject('must be JSON text')
    return Buffer.byteLength(value) <= maxDataBytes && (value === '' || isJson(value)) ? value : reject(noData)
  },
  z.string().meta({ description: 'Parameters of the job as JSON text.', example: '{"video_id":"42"}' }),
)

const priority = field(
  (value) => ([1, '1'].includes(value as never) ? 1 : [10, '10'].includes(value as never) ? 10 : reject('must be 1 (low) or 10 (high)')),
  z.union([z.literal(1), z.literal(10)]).meta({ description: 'Priority of the job: 1 (low) or 10 (high).', example: 10 }),
)

const QueueJobResponse = z.object({
  job_id: schema.id('job'),
  job_name: schema.text('Name as it was sent.', 'thumbnail-check'),
  priority: z.enum(['1', '10']).meta({ description: 'Priority of the job. Jobs with 10 run before jobs with 1.', example: '10' }),
  data: schema.text('JSON text as it was sent. Empty if there was none.', '{"video_id":"42"}'),
  time_created: schema.timestamp('Time at which the job was added.'),
})

export const addQueueJob = route({
  post: ['/queue-job'],
  operationId: 'createQueueJob',
  section,
  access: 'system',
  summary: 'Add a job to the work queue',
  description:
    'Stores a job for programs of system users. The platform does not run these jobs. The queue contains at most 1,000,000 jobs.',
  payload: z.object({
    priority,
    job_name: text(255, { min: 1 }, { description: 'Name of the work.', example: 'thumbnail-check' }),
    data: data.default(''),
  }),
  response: z.array(schema.id('job')).length(1),
  docs: { responseHeaders: locationHeader('/v2/queue-job/44') },
  errorCodes: { queue_full: 'The queue already has 1,000,000 jobs.' },
  async handle({ payload }, { services, call }) {
    const { priority, job_name: jobName, data } = payload
    const { jobId } = await services.queueJobs.addQueueJob({ priority, jobName, data }, call)
    return new Reply([jobId], { headers: { Location: `/v2/queue-job/${jobId}` } })
  },
})

export const popQueueJob = route({
  get: ['/queue-job'],
  operationId: 'takeQueueJob',
  section,
  access: 'system',
  readOnly: false,
  cost: 'write',
  summary: 'Remove the first job from the queue',
  description: `Returns the oldest job of the highest priority, or \`null\` if the queue is empty. A job is never returned to two callers at once.
Without \`lease\`, the job is removed permanently. If the response is lost, the job is lost too. With \`lease\`, the job returns to
its position after that time, unless it is deleted with \`DELETE /queue-job/{job_id}\`. HEAD is rejected with 405, and responses are
not cached.`,
  query: z.object({ lease: int({ min: 1, max: 43_200 }, { description: 'Lease time in seconds.', example: 60 }).optional() }),
  response: QueueJobResponse.nullable(),
  publicNames: { lease_seconds: 'lease' },
  async handle({ query }, { services, call }) {
    const { job } = await services.queueJobs.popQueueJob({ leaseSeconds: query.lease ?? 0 }, call)
    return job ? queueJobResponse(job) : null
  },
})

export const deleteQueueJob = route({
  delete: ['/queue-job/:jobId'],
  operationId: 'deleteQueueJob',
  section: 'Work queue',
  access: 'system',
  summary: 'Delete a job from the work queue',
  description: 'Marks a leased job as done. A job that waits, or whose lease has expired, is deleted too.',
  params: z.object({ jobId: id('queue job') }),
  response: z.object({ deleted: z.literal(true) }),
  errorCodes: { queue_job_not_found: 'The job is not in the queue.' },
  async handle({ params }, { services, call }) {
    await services.queueJobs.deleteQueueJob({ jobId: params.jobId }, call)
    return { deleted: true as const }
  },
})

export const queueJobRoutes = [addQueueJob, popQueueJob, deleteQueueJob]

function queueJobResponse({ jobId, jobName, priority, data, createTime }: QueueJob): z.input<typeof QueueJobResponse> {
  return {
    job_id: jobId,
    job_name: jobName,
    priority: priority === 10 ? '10' : '1',
    data,
    time_created: formatOptionalTimestamp(createTime),
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
