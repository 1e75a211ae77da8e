import { DomainError } from '@vitascope/errors'
import type { Query } from '@vitascope/postgres'

/** The name of a worker, which it keeps over a restart: all before the last colon of its id, which is another one after each start. */
export function nameOfWorker(workerId: string): string {
  return workerId.slice(0, Math.max(0, workerId.lastIndexOf(':')))
}

/**
 * Notes a worker process, and answers those before it under its name: they are gone, or should be.
 * Refuses a process whose place was taken (WORKER_SUPERSEDED).
 */
export async function registerWorker(query: Query, workerId: string): Promise<string[]> {
  const name = nameOfWorker(workerId)
  // A worker without a name is nobody's successor.
  if (name === '') return []
  await query('insert into worker (worker_id, name) values ($1, $2) on conflict (worker_id) do nothing', [workerId, name])
  const processes = await query<{ worker_id: string }>('select worker_id from worker where name = $1 order by seq desc', [name])
  if (processes[0]?.worker_id !== workerId) {
    throw new DomainError('refused', 'WORKER_SUPERSEDED', `another process works under the name ${name}`)
  }
  return processes.slice(1).map((process) => process.worker_id)
}

/** Forgets processes that were superseded a day ago. */
export async function sweepWorkers(query: Query): Promise<void> {
  await query(
    `delete from worker w where create_time < now() - interval '1 day'
       and exists (select 1 from worker later where later.name = w.name and later.seq > w.seq and later.create_time < now() - interval '1 day')`,
  )
}
