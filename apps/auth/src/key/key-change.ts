import type { Notifications, Query } from '@vitascope/postgres'

/** The PostgreSQL channel for ids of changed keys. Notifications are sent at the commit of the change. */
export const KEY_CHANGED = 'vitascope_auth_key_changed'

/** A notification has at most 8,000 bytes. An id has at most 20 bytes, including the comma. */
const IDS_PER_NOTIFICATION = 300

/**
 * Notifies all replicas that cached data of these keys is outdated. `where` must be a constant
 * condition on api_key.
 */
export async function notifyKeyChange(query: Query, where: string, values: readonly unknown[]): Promise<void> {
  await query(
    `select pg_notify('${KEY_CHANGED}', string_agg(api_key_id::text, ','))
     from (select api_key_id, (row_number() over () - 1) / ${IDS_PER_NOTIFICATION} as part from api_key where ${where}) k
     group by part`,
    values,
  )
}

/** Yields an empty list as soon as the watch is active, then the ids of changed keys. Throws CHANGES_LOST. */
export async function* watchKeyChanges(changes: Notifications, signal: AbortSignal): AsyncGenerator<string[]> {
  let isFirst = true
  for await (const { payloads } of changes.watch(signal)) {
    if (isFirst) yield []
    isFirst = false
    if (payloads.length > 0) yield payloads.flatMap((payload) => payload.split(','))
  }
}
