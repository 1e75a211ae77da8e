import type { Query } from '@vitascope/postgres'

/** The channel of PostgreSQL on which transactions that change a key say so, at their commit. */
export const KEY_CHANGED = 'vitascope_auth_key_changed'

/** A notification holds less than 8,000 bytes; an id has at most 19 digits and a comma. */
const IDS_A_NOTIFICATION = 300

/** Tells every replica that these keys no longer hold as they were known. `where` is a constant condition on api_key. */
export async function announceKeys(query: Query, where: string, values: readonly unknown[]): Promise<void> {
  await query(
    `select pg_notify('${KEY_CHANGED}', string_agg(api_key_id::text, ','))
     from (select api_key_id, (row_number() over () - 1) / ${IDS_A_NOTIFICATION} as part from api_key where ${where}) k
     group by part`,
    values,
  )
}

/** The ids of one notification. */
export function announcedIds(payload: string | undefined): string[] {
  return payload ? payload.split(',') : []
}
