import type { EncodePlan } from '@vitascope/media'
import type { Transaction } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { type Job, type JobKind, type NewJob, toQueueKey } from '../job/job.ts'
import { PRIORITIES, type TaskKind } from '../task/task.ts'
import { chunkMemoryMib } from '../task/task-resources.ts'
import { toChunkKind } from './plan.ts'

/** The job that a task belongs to. */
export type TaskOwner = Pick<NewJob, 'jobId' | 'organisationId' | 'lowPriority'>

/** Queues the next task of a job, in the transaction that causes it. */
export async function sendTask(tx: Transaction, queue: Queue, job: TaskOwner, kind: TaskKind): Promise<void> {
  const item = { key: toQueueKey(job.jobId), kind, group: job.organisationId, priority: computePriority(job, kind) }
  await queue.send(tx, { ...item, payload: {}, cost: TASK_COST_MS })
}

/**
 * Queues a chunk of a plan. Its weight is its memory in MiB, which is 0 for audio. Its cost is its
 * expected CPU time.
 */
export async function sendChunk(tx: Transaction, queue: Queue, job: TaskOwner, plan: EncodePlan, chunk: number): Promise<void> {
  const kind = toChunkKind(plan, chunk)
  const weight = kind === 'encode' ? chunkMemoryMib(plan) : 0
  const attributes = { key: toQueueKey(job.jobId), kind, group: job.organisationId, priority: computePriority(job, kind) }
  await queue.send(tx, { ...attributes, payload: { chunk }, weight, cost: chunkCostMs(plan, chunk) })
}

/**
 * Larger than the difference between any two kinds, so that all tasks of low-priority jobs rank
 * below all tasks of other jobs.
 */
export const LOW_PRIORITY_OFFSET = 100

function computePriority({ lowPriority = false }: TaskOwner, kind: TaskKind): number {
  return PRIORITIES[kind] - (lowPriority ? LOW_PRIORITY_OFFSET : 0)
}

/** Cost of a task that is not a chunk, in milliseconds of CPU time. */
const TASK_COST_MS = 1_000

/** Returns the expected CPU time of a chunk, or of the audio, in milliseconds. */
function chunkCostMs(plan: EncodePlan, chunk: number): number {
  const { expectedCpuSeconds } = plan.chunks[chunk] ?? plan.audio ?? { expectedCpuSeconds: 0 }
  return Math.max(1, Math.round(expectedCpuSeconds * 1_000))
}

/**
 * First task of each kind of job. The source of a `rendition` or `slides` job is already stored. So
 * is the picture of a `poster` job without a URL.
 */
const FIRST_TASKS: Readonly<Record<JobKind, TaskKind>> = { renditions: 'fetch', slides: 'slides', rendition: 'probe', poster: 'poster' }

export function sendFirstTask(tx: Transaction, queue: Queue, job: TaskOwner & Pick<Job, 'kind' | 'sourceUrl'>): Promise<void> {
  return sendTask(tx, queue, job, job.kind === 'poster' && job.sourceUrl !== '' ? 'fetch-poster' : FIRST_TASKS[job.kind])
}
