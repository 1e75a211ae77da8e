import { createLoadingCache } from '@vitascope/concurrency'
import type { Handlers } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import { requireSystemUser } from '@vitascope/principal'
import type { WorkerServiceService } from '@vitascope/proto/encoding/v1/worker'
import { pageByKey } from '@vitascope/request'
import { countTasks, listRunningTasks, listWorkers } from './workload-store.ts'

const MAX_WORKERS = 100
/** Three times the interval at which leases are extended, and more than that at which idle workers request tasks. */
const CONNECTED_SECONDS = 30
/** Counting reads all tasks, so open pages share a result. */
const COUNTS_TTL_MS = 2_000

export function workerHandlers({ db }: { db: Db }): Handlers<typeof WorkerServiceService> {
  const counts = createLoadingCache<Awaited<ReturnType<typeof countTasks>>>({ max: 1, ttlMs: () => COUNTS_TTL_MS })
  return {
    async listWorkers(request, { principal }) {
      requireSystemUser(principal)
      const { rows, nextPageToken } = await pageByKey(request, MAX_WORKERS, {
        read: (position) => listWorkers(db.query, position),
        getKey: ({ name }) => name,
        isKey: (text) => /^[A-Za-z0-9._:-]{1,200}$/.test(text),
        start: '',
      })
      const tasks = Map.groupBy(
        await listRunningTasks(
          db.query,
          rows.map(({ workerId }) => workerId),
        ),
        ({ workerId }) => workerId,
      )
      const workers = rows.map(({ workerId, name, connectedSeconds, heartbeatAgeSeconds }) => ({
        ...{ name, connectedSeconds, heartbeatAgeSeconds },
        connected: heartbeatAgeSeconds <= CONNECTED_SECONDS,
        tasks: tasks.get(workerId) ?? [],
      }))
      return { workers, nextPageToken }
    },
    async getTaskCounts(_, { principal }) {
      requireSystemUser(principal)
      return counts.get('counts', () => countTasks(db.query))
    },
  }
}
