import type { Transaction } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { type Job, keyOfJob } from '../job/job.ts'
import { PRIORITIES, type TaskKind, type TaskPayload } from './task.ts'

/** Adds the next work for a job, in the transaction of its cause. */
export async function sendTask(
  tx: Transaction,
  queue: Queue,
  { jobId, organisationId }: Pick<Job, 'jobId' | 'organisationId'>,
  kind: TaskKind,
  payload: TaskPayload = {},
): Promise<void> {
  await queue.send(tx, { key: keyOfJob(jobId), kind, group: organisationId, priority: PRIORITIES[kind], payload })
}

/** What a job begins with: its source is fetched, or lies there. */
export function sendFirstTask(tx: Transaction, queue: Queue, job: Pick<Job, 'jobId' | 'organisationId' | 'kind'>): Promise<void> {
  return sendTask(tx, queue, job, job.kind === 'slides' ? 'slides' : 'fetch')
}
