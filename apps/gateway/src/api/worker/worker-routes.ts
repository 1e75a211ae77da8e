import type { Worker } from '@vitascope/proto/encoding/v1/worker'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { int } from '../../server/schema/fields.ts'
import { nextLink, positionQuery, toPosition } from '../../server/schema/pagination.ts'
import { QueueResponse, queueResponse, WorkerResponse, workerResponse } from './worker-response.ts'

const section = 'Workers'
const access = 'system'
/** Maximum number of jobs per request of the catalogue. */
const MAX_JOB_IDS = 100

export const listWorkers = route({
  get: ['/worker'],
  operationId: 'listWorkers',
  section,
  access,
  summary: 'List workers and their tasks',
  description: `Returns the workers that were connected in the last 10 minutes, by name, with the tasks that each runs now. A worker that stops
normally stays in the list until then. Downloads of sources are tasks of the service, not of a worker; see the queue.`,
  query: z.object({ ...positionQuery, limit: int({ min: 1, max: 100 }, { description: 'Maximum number of workers.' }).default(50) }),
  response: z.array(WorkerResponse),
  async handle({ query }, context) {
    const { workers, nextPageToken } = await context.services.workers.listWorkers(
      { pageSize: query.limit, ...toPosition(query) },
      context.call,
    )
    const videoIds = await findVideoIds(workers, context)
    const headers = nextLink(context.publicUrl, '/worker', { ...query, nextCursor: nextPageToken })
    return new Reply(
      workers.map((worker) => workerResponse(worker, videoIds)),
      { headers },
    )
  },
})

export const getWorkerQueue = route({
  get: ['/worker/queue'],
  operationId: 'getWorkerQueue',
  section,
  access,
  summary: 'Count tasks that wait and run',
  description: `Counts the tasks by kind, and by organisation and kind: those of the 200 organisations and kinds that have waited longest. The
counts are up to 2 s old. The work queue of \`/queue-job\` is another queue.`,
  response: QueueResponse,
  async handle(_, { services, call }) {
    return queueResponse(await services.workers.getTaskCounts({}, call))
  },
})

export const workerRoutes = [listWorkers, getWorkerQueue]

/** Returns the videos of the jobs that run. Jobs of slides and posters are unknown to the list of jobs, so they have none. */
async function findVideoIds(workers: readonly Worker[], { services, call }: Context): Promise<Map<string, string>> {
  const jobIds = [...new Set(workers.flatMap(({ tasks }) => tasks.map(({ jobId }) => jobId)))]
  const videoIds = new Map<string, string>()
  for (let offset = 0; offset < jobIds.length; offset += MAX_JOB_IDS) {
    const request = { organisationId: '', mediaId: '', states: [], pageSize: MAX_JOB_IDS, pageToken: '', skip: 0 }
    const { jobs } = await services.jobs.listJobs({ ...request, jobIds: jobIds.slice(offset, offset + MAX_JOB_IDS) }, call)
    for (const { jobId, videoId } of jobs) videoIds.set(jobId, videoId)
  }
  return videoIds
}
