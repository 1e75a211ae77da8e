import type { Db } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'

/**
 * Records the last use of keys in memory and writes it periodically. Calls do not wait for it. Each
 * key costs at most one write per minute, regardless of the number of replicas. A crash loses up to
 * the last flush interval.
 *
 * This is not a batcher of libs/concurrency: calls do not wait for the write, uses of one key replace
 * each other, and the interval bounds the number of writes.
 */
export interface LastUsed {
  note(apiKeyId: string): void
  /** Writes the recorded uses. */
  flush(): Promise<void>
}

/**
 * Maximum number of keys with unwritten uses; more than a replica sees between two writes. Further
 * keys are ignored.
 */
const MAX_PENDING = 100_000

export function createLastUsed({ db, log, now = () => new Date() }: { db: Db; log: Logger; now?: () => Date }): LastUsed {
  let noted = new Map<string, Date>()
  return {
    note(apiKeyId) {
      if (noted.size < MAX_PENDING || noted.has(apiKeyId)) noted.set(apiKeyId, now())
    },
    async flush() {
      if (noted.size === 0) return
      const written = noted
      noted = new Map()
      try {
        await db.transaction(({ query }) =>
          query(
            `insert into api_key_use as u (api_key_id, last_used_time)
             select k.api_key_id, n.used from unnest($1::bigint[], $2::timestamptz[]) as n (id, used) join api_key k on k.api_key_id = n.id
             order by 1
             on conflict (api_key_id) do update set last_used_time = excluded.last_used_time
               where u.last_used_time <= excluded.last_used_time - interval '1 minute'`,
            [[...written.keys()], [...written.values()]],
          ),
        )
      } catch (error) {
        noted = new Map([...written, ...noted])
        log.warn({ err: error }, 'writing the last use of API keys failed; retrying')
      }
    },
  }
}
