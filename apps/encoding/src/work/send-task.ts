import { chunkMemoryBytes, type EncodePlan } from '@vitascope/media'
import type { Transaction } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { type Job, type JobKind, keyOfJob, type NewJob } from '../job/job.ts'
import { kindOfChunk } from './plan.ts'
import { PRIORITIES, type TaskKind } from './task.ts'

/** The job that the work is for. */
export type SentFor = Pick<NewJob, 'jobId' | 'organisationId' | 'givesWay'>

/** Adds the next work for a job, in the transaction of its cause. */
export async function sendTask(tx: Transaction, queue: Queue, job: SentFor, kind: TaskKind): Promise<void> {
  await queue.send(tx, { key: keyOfJob(job.jobId), kind, group: job.organisationId, priority: priorityOf(job, kind), payload: {} })
}

/** Adds a chunk of a plan; it weighs the MiB of memory that it takes, its sound next to nothing. */
export async function sendChunk(tx: Transaction, queue: Queue, job: SentFor, plan: EncodePlan, chunk: number): Promise<void> {
  const kind = kindOfChunk(plan, chunk)
  const weight = kind === 'encode' ? chunkMemoryMib(plan) : 0
  const place = { key: keyOfJob(job.jobId), kind, group: job.organisationId, priority: priorityOf(job, kind) }
  await queue.send(tx, { ...place, payload: { chunk }, weight })
}

/** More than lies between any two kinds: a job that gives way comes behind all that do not. */
const WAY = 100

function priorityOf({ givesWay = false }: SentFor, kind: TaskKind): number {
  return PRIORITIES[kind] - (givesWay ? WAY : 0)
}

export function chunkMemoryMib(plan: EncodePlan): number {
  return Math.ceil(chunkMemoryBytes(plan) / 2 ** 20)
}

/** What a job begins with: its source is fetched, or lies there. */
const FIRST_TASKS: Readonly<Record<JobKind, TaskKind>> = { renditions: 'fetch', slides: 'slides', rendition: 'probe' }

export function sendFirstTask(tx: Transaction, queue: Queue, job: SentFor & Pick<Job, 'kind'>): Promise<void> {
  return sendTask(tx, queue, job, FIRST_TASKS[job.kind])
}
