import type { Query } from '@vitascope/postgres'
import type { LeasedItem } from '@vitascope/queue'
import { readChunks } from '../job/chunk-store.ts'
import { type Job, requirePlan } from '../job/job.ts'
import type { TaskPrefixes } from '../objects/object-prefix.ts'
import { readWorkerTask } from '../task/queued-task.ts'
import type { TaskInput } from '../task/task.ts'

/** Returns the input of a task for the worker. */
export async function inputFor(
  query: Query,
  item: LeasedItem,
  { job, prefixes }: { job: Job; prefixes: TaskPrefixes },
  limits: { maxSourceSeconds: number },
): Promise<TaskInput> {
  const { source } = job
  if (!source) throw new Error(`job ${job.jobId} has work for a worker, but no source`)
  const task = readWorkerTask(item)
  switch (task.kind) {
    case 'probe':
      return { kind: 'probe', source, maxSeconds: limits.maxSourceSeconds }
    case 'encode':
    case 'audio':
      return { kind: 'encode', source, plan: requirePlan(job), chunk: task.chunk, workPrefix: prefixes.work }
    case 'package':
      return {
        kind: 'package',
        plan: requirePlan(job),
        chunks: await readChunks(query, job.jobId),
        setPrefix: prefixes.set,
        workPrefix: prefixes.work,
      }
    case 'slides':
      return { kind: 'slides', source, setPrefix: prefixes.set, workPrefix: prefixes.work }
    case 'poster':
      return { kind: 'poster', source, atSeconds: job.atSeconds, setPrefix: prefixes.set, workPrefix: prefixes.work }
  }
}
