import type { Query } from '@vitascope/postgres'

/** The PostgreSQL channel on which transactions that change a key notify at their commit. */
export const KEY_CHANGED = 'vitascope_auth_key_changed'

/** A notification is limited to 8,000 bytes; an id takes at most 20, including the comma. */
const IDS_A_NOTIFICATION = 300

/**
 * Notifies all replicas that cached data of these keys is outdated. `where` must be a constant
 * condition on api_key.
 */
export async function announceKeys(query: Query, where: string, values: readonly unknown[]): Promise<void> {
  await query(
    `select pg_notify('${KEY_CHANGED}', string_agg(api_key_id::text, ','))
     from (select api_key_id, (row_number() over () - 1) / ${IDS_A_NOTIFICATION} as part from api_key where ${where}) k
     group by part`,
    values,
  )
}

/** Returns the key ids of a notification. */
export function announcedIds(payload: string | undefined): string[] {
  return payload ? payload.split(',') : []
}
