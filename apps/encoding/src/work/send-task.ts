import { chunkMemoryBytes, type EncodePlan } from '@vitascope/media'
import type { Transaction } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { type Job, type JobKind, keyOfJob } from '../job/job.ts'
import { kindOfChunk } from './plan.ts'
import { PRIORITIES, type TaskKind } from './task.ts'

/** Adds the next work for a job, in the transaction of its cause. */
export async function sendTask(
  tx: Transaction,
  queue: Queue,
  { jobId, organisationId }: Pick<Job, 'jobId' | 'organisationId'>,
  kind: TaskKind,
): Promise<void> {
  await queue.send(tx, { key: keyOfJob(jobId), kind, group: organisationId, priority: PRIORITIES[kind], payload: {} })
}

/** Adds a chunk of a plan; it weighs the MiB of memory that it takes, its sound next to nothing. */
export async function sendChunk(
  tx: Transaction,
  queue: Queue,
  { jobId, organisationId }: Pick<Job, 'jobId' | 'organisationId'>,
  plan: EncodePlan,
  chunk: number,
): Promise<void> {
  const kind = kindOfChunk(plan, chunk)
  const weight = kind === 'encode' ? chunkMemoryMib(plan) : 0
  await queue.send(tx, { key: keyOfJob(jobId), kind, group: organisationId, priority: PRIORITIES[kind], payload: { chunk }, weight })
}

export function chunkMemoryMib(plan: EncodePlan): number {
  return Math.ceil(chunkMemoryBytes(plan) / 2 ** 20)
}

/** What a job begins with: its source is fetched, or lies there. */
const FIRST_TASKS: Readonly<Record<JobKind, TaskKind>> = { renditions: 'fetch', slides: 'slides', rendition: 'probe' }

export function sendFirstTask(tx: Transaction, queue: Queue, job: Pick<Job, 'jobId' | 'organisationId' | 'kind'>): Promise<void> {
  return sendTask(tx, queue, job, FIRST_TASKS[job.kind])
}
