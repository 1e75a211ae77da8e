import type { Db } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'

/**
 * Records the last use of keys in memory and writes it periodically. Each key is written at most once
 * per minute, regardless of the number of replicas. A crash loses the uses since the last write.
 *
 * This is not a batcher of libs/concurrency, because calls do not wait for the write and later uses of
 * a key replace earlier ones.
 */
export interface LastUsed {
  recordUse(apiKeyId: string): void
  /** Writes the recorded uses. */
  flush(): Promise<void>
}

/**
 * Maximum number of keys with unwritten uses. Uses of further keys are ignored. A replica serves
 * fewer keys between two writes.
 */
const MAX_PENDING = 100_000

export function createLastUsed({ db, log, now = () => new Date() }: { db: Db; log: Logger; now?: () => Date }): LastUsed {
  let pendingUses = new Map<string, Date>()
  return {
    recordUse(apiKeyId) {
      if (pendingUses.size < MAX_PENDING || pendingUses.has(apiKeyId)) pendingUses.set(apiKeyId, now())
    },
    async flush() {
      if (pendingUses.size === 0) return
      const writtenUses = pendingUses
      pendingUses = new Map()
      try {
        await db.transaction(({ query }) =>
          query(
            `insert into api_key_use as u (api_key_id, last_used_time)
             select k.api_key_id, n.used from unnest($1::bigint[], $2::timestamptz[]) as n (id, used) join api_key k on k.api_key_id = n.id
             order by 1
             on conflict (api_key_id) do update set last_used_time = excluded.last_used_time
               where u.last_used_time <= excluded.last_used_time - interval '1 minute'`,
            [[...writtenUses.keys()], [...writtenUses.values()]],
          ),
        )
      } catch (error) {
        pendingUses = new Map([...writtenUses, ...pendingUses])
        log.warn({ err: error }, 'writing the last use of API keys failed; retrying')
      }
    },
  }
}
