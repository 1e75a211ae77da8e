import { DomainError } from '@vitascope/errors'
import type { Query } from '@vitascope/postgres'

/**
 * Returns the name of a worker, which is stable over a restart: everything before the last colon of
 * its id.
 */
export function toWorkerName(workerId: string): string {
  return workerId.slice(0, Math.max(0, workerId.lastIndexOf(':')))
}

/** A heartbeat is not recorded again within this time, so that idle slots do not write with each request. */
const HEARTBEAT_INTERVAL_SECONDS = 5

/**
 * Registers a worker process, records that it is connected, and returns the ids of the earlier processes with its name, which it
 * supersedes. Throws WORKER_SUPERSEDED if a later process has registered under the name.
 */
export async function registerWorker(query: Query, workerId: string): Promise<string[]> {
  const name = toWorkerName(workerId)
  // A worker without a name replaces no other process.
  if (name === '') return []
  await query(
    `insert into worker (worker_id, name, seen_time) values ($1, $2, now()) on conflict (worker_id) do update set seen_time = now()
     where worker.seen_time is null or worker.seen_time < now() - interval '${HEARTBEAT_INTERVAL_SECONDS} seconds'`,
    [workerId, name],
  )
  const processes = await query<{ worker_id: string }>('select worker_id from worker where name = $1 order by seq desc', [name])
  if (processes[0]?.worker_id !== workerId) {
    throw new DomainError('failed_precondition', 'WORKER_SUPERSEDED', `another process uses the worker name ${name}`)
  }
  return processes.slice(1).map((process) => process.worker_id)
}

/**
 * Removes up to `limit` processes that were superseded more than a day ago, or that have not been
 * connected for a week, such as pods of ended Kubernetes Jobs. Returns the number of removed rows.
 */
export async function sweepWorkers(query: Query, limit: number): Promise<number> {
  const rows = await query(
    `delete from worker where worker_id in (
       select worker_id from worker w where coalesce(seen_time, create_time) < now() - interval '7 days'
         or create_time < now() - interval '1 day'
         and exists (select 1 from worker later where later.name = w.name and later.seq > w.seq and later.create_time < now() - interval '1 day')
       limit $1)
     returning 1`,
    [limit],
  )
  return rows.length
}
