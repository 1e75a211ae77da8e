import type { Query } from '@vitascope/postgres'
import type { PagePosition } from '@vitascope/request'
import { toJobId } from '../job/job.ts'
import { readTask } from '../task/queued-task.ts'

/** A worker process. Ages are in seconds by the clock of the database. */
export interface ListedWorker {
  workerId: string
  name: string
  connectedSeconds: number
  heartbeatAgeSeconds: number
}

/** A leased task. */
export interface RunningTask {
  workerId: string
  kind: string
  jobId: string
  organisationId: string
  /** Number of the chunk, for tasks that encode one. */
  chunk: number | undefined
  /** Completed fraction of the chunk. */
  done: number | undefined
  /** Undefined if a service of the previous version leased the task. */
  runningSeconds: number | undefined
}

/** Tasks of one kind, of all organisations or of one. */
export interface TaskCounts {
  kind: string
  /** Empty for all organisations. */
  organisationId: string
  waiting: number
  running: number
  /** Seconds since the first waiting task can start. Undefined if none can. */
  waitingSeconds: number | undefined
}

/** A worker without a heartbeat for this time is not listed. */
const LISTED_MINUTES = 10
/** Maximum number of tasks of a worker. It is larger than the number of slots of any worker. */
const MAX_TASKS = 100
/** Maximum number of rows of organisations. */
const MAX_ORGANISATION_ROWS = 200

/**
 * Returns the latest processes that were connected in the last 10 minutes, by name. It reads all rows
 * of `worker`, of which retention removes the old ones, and all leased tasks by the index
 * `work_item_lease`. A leased task is a heartbeat at the time when its lease was extended.
 */
export async function listWorkers(query: Query, { after, limit, skip }: PagePosition): Promise<ListedWorker[]> {
  const rows = await query<{ worker_id: string; name: string; connected: number; heartbeat_age: number }>(
    `with latest as (
       select distinct on (name) worker_id, name, create_time, coalesce(seen_time, create_time) as seen_time from worker
       where name collate "C" > $1 order by name, seq desc
     ), extended as (
       select holder, max(lease_end - lease_ms * interval '1 millisecond') as extend_time from work_item where state = 'leased' group by holder
     ), connected as (
       select worker_id, name, create_time, greatest(seen_time, extend_time) as heartbeat_time
       from latest left join extended on holder = worker_id
     )
     select worker_id, name, extract(epoch from now() - create_time)::float8 as connected,
       extract(epoch from now() - heartbeat_time)::float8 as heartbeat_age
     from connected where heartbeat_time > now() - interval '${LISTED_MINUTES} minutes'
     order by name collate "C" limit $2 offset $3`,
    [after, limit, skip],
  )
  return rows.map((row) => ({
    workerId: row.worker_id,
    name: row.name,
    connectedSeconds: Math.max(0, row.connected),
    heartbeatAgeSeconds: Math.max(0, row.heartbeat_age),
  }))
}

/** Returns the tasks that these workers have leased, oldest first, at most 100 of each. */
export async function listRunningTasks(query: Query, workerIds: readonly string[]): Promise<RunningTask[]> {
  const rows = await query<{
    item_id: string
    holder: string
    kind: string
    key: string
    group_key: string
    payload: unknown
    running: number | null
  }>(
    `select item_id, holder, kind, key, group_key, payload, extract(epoch from now() - lease_time)::float8 as running from (
       select *, row_number() over (partition by holder order by item_id) as position from work_item
       where state = 'leased' and holder = any ($1)
     ) leased where position <= ${MAX_TASKS} order by item_id`,
    [workerIds],
  )
  const tasks = rows.map((row) => ({
    workerId: row.holder,
    kind: row.kind,
    jobId: toJobId(row.key),
    organisationId: row.group_key,
    chunk: readTask({ itemId: row.item_id, kind: row.kind, payload: row.payload }).chunk,
    runningSeconds: row.running === null ? undefined : Math.max(0, row.running),
  }))
  const chunks = tasks.filter((task) => task.chunk !== undefined)
  const progress = await query<{ job_id: string; chunk: number; done: number }>(
    `select job_id, chunk, done from unnest($1::bigint[], $2::int[]) as running (job_id, chunk) join chunk using (job_id, chunk)`,
    [chunks.map(({ jobId }) => jobId), chunks.map(({ chunk }) => chunk)],
  )
  const done = new Map(progress.map((row) => [`${row.job_id} ${row.chunk}`, row.done]))
  return tasks.map((task) => ({ ...task, done: task.chunk === undefined ? undefined : done.get(`${task.jobId} ${task.chunk}`) }))
}

/**
 * Counts the tasks of each kind, and of each organisation and kind. It reads every waiting and leased
 * task once, 100,000 of them in about 0.2 s, so callers cache the result. It returns at most 200 rows of organisations, those that have
 * waited longest first.
 */
export async function countTasks(query: Query): Promise<{ kinds: TaskCounts[]; organisations: TaskCounts[] }> {
  const rows = await query<{
    kind: string
    organisation_id: string | null
    waiting: number
    running: number
    waiting_seconds: number | null
  }>(
    `with counts as (
       select kind, group_key as organisation_id, count(*) filter (where state = 'waiting')::int as waiting, count(*) filter (where state = 'leased')::int as running,
         extract(epoch from now() - min(due_time) filter (where state = 'waiting' and due_time <= now()))::float8 as waiting_seconds
       from work_item where state in ('waiting', 'leased') group by grouping sets ((kind), (kind, group_key))
     )
     (select * from counts where organisation_id is null order by kind)
     union all
     (select * from counts where organisation_id is not null order by waiting_seconds desc nulls last, kind, organisation_id limit ${MAX_ORGANISATION_ROWS})`,
  )
  const toCounts = (row: (typeof rows)[number]): TaskCounts => ({
    kind: row.kind,
    organisationId: row.organisation_id ?? '',
    waiting: row.waiting,
    running: row.running,
    waitingSeconds: row.waiting_seconds ?? undefined,
  })
  return {
    kinds: rows.filter((row) => row.organisation_id === null).map(toCounts),
    organisations: rows.filter((row) => row.organisation_id !== null).map(toCounts),
  }
}
