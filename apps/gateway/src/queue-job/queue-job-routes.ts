import type { QueueJob } from '@vitascope/proto/encoding/v1/queue_job'
import { z } from 'zod'
import { field, refuse } from '../field.ts'
import { id, int, text } from '../fields.ts'
import { shown, timestampText } from '../public-form.ts'
import { route } from '../route.ts'

const section = 'Work queue'
const mostDataBytes = 65_536
const noData = `must be JSON text of at most ${mostDataBytes} bytes`

const data = field(
  (value) => {
    if (typeof value !== 'string') return refuse('must be a text that holds JSON')
    return Buffer.byteLength(value) <= mostDataBytes && (value === '' || isJson(value)) ? value : refuse(noData)
  },
  z.string().meta({ description: 'Parameters of the job as JSON text.', example: '{"video_id":"42"}' }),
)

const priority = field(
  (value) => ([1, '1'].includes(value as never) ? 1 : [10, '10'].includes(value as never) ? 10 : refuse('must be 1 (low) or 10 (high)')),
  z.union([z.literal(1), z.literal(10)]).meta({ description: '1 is low, 10 is high.', example: 10 }),
)

const QueueJobRecord = z.object({
  job_id: shown.id('job'),
  job_name: shown.text('As it was sent.', 'thumbnail-check'),
  priority: z.enum(['1', '10']).meta({ description: '10 comes before 1.', example: '10' }),
  data: shown.text('JSON text, as it was sent; empty if there was none.', '{"video_id":"42"}'),
  time_created: shown.timestamp('When it was put in.'),
})

export const addQueueJob = route({
  post: ['/queue-job'],
  section,
  access: 'system',
  summary: 'Put a job into the work queue',
  description: 'The queue is for system users alone: nothing of the platform takes these jobs. It holds at most 1,000,000.',
  payload: z.object({
    priority,
    job_name: text(255, { min: 1 }, { description: 'What is to be done.', example: 'thumbnail-check' }),
    data: data.default(''),
  }),
  answer: z.array(shown.id('job')).length(1),
  refusals: { queue_full: 'it holds 1,000,000 jobs' },
  async handle({ payload }, { services, call }) {
    const { priority, job_name: jobName, data } = payload
    return [(await services.queueJobs.addQueueJob({ priority, jobName, data }, call)).jobId]
  },
})

export const popQueueJob = route({
  get: ['/queue-job'],
  section,
  access: 'system',
  safe: false,
  cost: 'write',
  summary: 'Take the first job off the work queue',
  description: `Of the highest priority the oldest; \`null\` when the queue is empty. No job is given to two callers. Without \`lease\` it is out of the queue
for good: if the answer is lost, so is the job. With it, the job comes back to its place after so many seconds, unless \`DELETE /queue-job/{job_id}\` comes
before. HEAD is 405, and nothing is cached.`,
  query: z.object({ lease: int({ min: 1, max: 43_200 }, { description: 'Seconds.', example: 60 }).optional() }),
  answer: QueueJobRecord.nullable(),
  async handle({ query }, { services, call }) {
    const { job } = await services.queueJobs.popQueueJob({ leaseSeconds: query.lease ?? 0 }, call)
    return job ? queueJobView(job) : null
  },
})

export const deleteQueueJob = route({
  delete: ['/queue-job/:jobId'],
  section: 'Added',
  access: 'system',
  summary: 'Take a job out of the work queue',
  description: 'Says that a leased job is done. One that waits, or whose lease is over, is taken out as well.',
  params: z.object({ jobId: id('job of the queue') }),
  answer: z.object({ deleted: z.literal(true) }),
  refusals: { queue_job_not_found: 'it is not, or no longer, in the queue' },
  async handle({ params }, { services, call }) {
    await services.queueJobs.deleteQueueJob({ jobId: params.jobId }, call)
    return { deleted: true as const }
  },
})

export const queueJobRoutes = [addQueueJob, popQueueJob, deleteQueueJob]

function queueJobView({ jobId, jobName, priority, data, createTime }: QueueJob): z.input<typeof QueueJobRecord> {
  return {
    job_id: jobId,
    job_name: jobName,
    priority: priority === 10 ? '10' : '1',
    data,
    time_created: timestampText(createTime),
  }
}

function isJson(written: string): boolean {
  try {
    JSON.parse(written)
    return true
  } catch {
    return false
  }
}
