import type { Db } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'

/**
 * Remembers when keys were used, and writes it down now and then: nobody who calls waits for it, and each key costs at most one write a
 * minute, however many replicas see it. A process that dies forgets the last minute.
 */
export interface LastUsed {
  note(apiKeyId: string): void
  /** Writes what was noted. */
  flush(): Promise<void>
}

/** Of keys that were noted and not written yet, more than any replica sees between two writes; beyond them the rest is passed over. */
const MOST_NOTED = 100_000

export function createLastUsed({ db, log, now = () => new Date() }: { db: Db; log: Logger; now?: () => Date }): LastUsed {
  let noted = new Map<string, Date>()
  return {
    note(apiKeyId) {
      if (noted.size < MOST_NOTED || noted.has(apiKeyId)) noted.set(apiKeyId, now())
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
        log.warn({ err: error }, 'the last uses of keys were not written: it is tried again')
      }
    },
  }
}
