import type { EncodePlan } from '@vitascope/media'
import type { Query } from '@vitascope/postgres'
import type { LeasedItem } from '@vitascope/queue'
import { readChunks } from '../job/chunk-store.ts'
import type { Job } from '../job/job.ts'
import type { TaskPlaces } from '../objects/object-prefix.ts'
import type { EncodeInput, PackageInput, ProbeInput, SlidesInput, TaskPayload, WorkerTaskKind } from '../task/task.ts'

/** Returns the input of a task for the worker. */
export async function inputFor(
  query: Query,
  item: LeasedItem,
  { job, places }: { job: Job; places: TaskPlaces },
  limits: { maxSourceSeconds: number },
): Promise<ProbeInput | EncodeInput | PackageInput | SlidesInput> {
  const { source } = job
  if (!source) throw new Error(`job ${job.jobId} has work for a worker, but no source`)
  switch (item.kind as WorkerTaskKind) {
    case 'probe':
      return { source, maxSeconds: limits.maxSourceSeconds }
    case 'encode':
    case 'audio':
      return { source, plan: planOf(job), chunk: (item.payload as TaskPayload).chunk ?? 0, workPrefix: places.work }
    case 'package':
      return { plan: planOf(job), chunks: await readChunks(query, job.jobId), setPrefix: places.set, workPrefix: places.work }
    case 'slides':
      return { source, setPrefix: places.set, workPrefix: places.work }
  }
}

function planOf(job: Job): EncodePlan {
  if (job.plan === undefined) throw new Error(`job ${job.jobId} is to be encoded, but has no plan`)
  // Written by this service from the same type.
  return job.plan as EncodePlan
}
