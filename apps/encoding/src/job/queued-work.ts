import type { Query } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { WORKER_KINDS, type WorkerTaskKind } from '../task/task.ts'

/** Expected CPU seconds of a source while no chunk of any job has been encoded. */
const DEFAULT_SOURCE_SECONDS = 60
/** The mean work of a source is that of the jobs of this number of chunks, which ended last. */
const RECENT_CHUNKS = 500

/** Expected CPU seconds of the work for workers, by kind of task. `source`: work that is not planned yet. */
export type QueuedWork = Record<WorkerTaskKind | 'source', number>

/**
 * Returns the work of waiting and leased tasks. A source has no plan until it is probed, so each job
 * without a plan counts with the mean work of recent jobs.
 */
export async function readQueuedWork(query: Query, queue: Queue): Promise<QueuedWork> {
  const depth = await queue.depth()
  const planned = WORKER_KINDS.map((kind) => [kind, (depth.find((row) => row.kind === kind)?.cost ?? 0) / 1_000] as const)
  return { ...(Object.fromEntries(planned) as Record<WorkerTaskKind, number>), source: await estimateSources(query) }
}

async function estimateSources(query: Query): Promise<number> {
  const [row] = await query<{ sources: number; mean: number | null }>(
    `with recent as (
       select distinct job_id from (select job_id from chunk where end_time is not null order by end_time desc limit $1) as ended
     ), work as (
       select sum(weight) as seconds from chunk where job_id in (select job_id from recent) group by job_id
     )
     select (select avg(seconds)::float8 from work) as mean,
       (select count(*)::int from job where state in ('queued', 'fetching', 'probing') and kind in ('renditions', 'rendition')) as sources`,
    [RECENT_CHUNKS],
  )
  return (row?.sources ?? 0) * (row?.mean ?? DEFAULT_SOURCE_SECONDS)
}
