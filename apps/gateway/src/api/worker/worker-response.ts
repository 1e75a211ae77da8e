import type { GetTaskCountsResponse, RunningTask, TaskCounts, Worker } from '@vitascope/proto/encoding/v1/worker'
import { z } from 'zod'
import { schema } from '../../server/schema/response-format.ts'

const kind = (more: string) =>
  schema.text(`Kind of the task: \`probe\`, \`encode\`, \`audio\`, \`package\`, \`slides\` or \`poster\`${more}.`, 'encode')
const seconds = (description: string, example: number) => schema.int(description, example)

const TaskResponse = z.object({
  kind: kind(''),
  job_id: schema.id('job'),
  video_id: schema.id('video').meta({ description: 'Id of the video. Empty for slides and posters.' }),
  organisation_id: schema.id('organisation'),
  chunk: schema
    .int('Number of the chunk, from 0. The sound has the number after the last chunk. null for tasks without one.', 3)
    .nullable(),
  progress: schema.int('Progress in percent. null for tasks without a chunk.', 57).nullable(),
  running_seconds: seconds('Seconds since the task started. null if it started before an update.', 12).nullable(),
})

export const WorkerResponse = z
  .object({
    name: schema.text('Name of the worker, the same after a restart.', 'worker-1'),
    connected: schema.bool('false if the last heartbeat is more than 30 s old.'),
    connected_seconds: seconds('Seconds since the process has connected.', 86_400),
    heartbeat_age_seconds: seconds('Seconds since the last heartbeat.', 4),
    tasks: z.array(TaskResponse).meta({ description: 'Tasks that it runs, oldest first. At most 100.' }),
  })
  .meta({ id: 'Worker', description: 'A worker and what it runs.' })

const counts = {
  kind: kind(', or a download by the service: `fetch` or `fetch-poster`'),
  waiting: schema.int('Tasks that wait, including those that wait for another attempt.', 12),
  running: schema.int('Tasks that run.', 4),
  waiting_seconds: seconds('Seconds for which the first task that can start has waited. 0 if there is none.', 30),
}

export const QueueResponse = z.object({
  kinds: z.array(z.object(counts)).meta({ description: 'Kinds with tasks, of all organisations.' }),
  organisations: z
    .array(z.object({ organisation_id: schema.id('organisation'), ...counts }))
    .meta({ description: 'Organisations and kinds with tasks, those that have waited longest first. At most 200.' }),
})

/** `videoIds` has the videos by the ids of their jobs. */
export function workerResponse(
  { name, connected, connectedSeconds, heartbeatAgeSeconds, tasks }: Worker,
  videoIds: ReadonlyMap<string, string>,
): z.input<typeof WorkerResponse> {
  return {
    name,
    connected,
    connected_seconds: Math.floor(connectedSeconds),
    heartbeat_age_seconds: Math.floor(heartbeatAgeSeconds),
    tasks: tasks.map((task) => taskResponse(task, videoIds)),
  }
}

function taskResponse(
  { kind: name, jobId, organisationId, chunk, done, runningSeconds }: RunningTask,
  videoIds: ReadonlyMap<string, string>,
): z.input<typeof TaskResponse> {
  return {
    kind: name,
    job_id: jobId,
    video_id: videoIds.get(jobId) ?? '',
    organisation_id: organisationId,
    chunk: chunk ?? null,
    progress: done === undefined ? null : Math.floor(100 * done),
    running_seconds: runningSeconds === undefined ? null : Math.floor(runningSeconds),
  }
}

export function queueResponse({ kinds, organisations }: GetTaskCountsResponse): z.input<typeof QueueResponse> {
  return {
    kinds: kinds.map(countsResponse),
    organisations: organisations.map((row) => ({ organisation_id: row.organisationId, ...countsResponse(row) })),
  }
}

function countsResponse({ kind: name, waiting, running, waitingSeconds }: TaskCounts) {
  return { kind: name, waiting, running, waiting_seconds: Math.floor(waitingSeconds ?? 0) }
}
