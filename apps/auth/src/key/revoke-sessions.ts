import type { Query } from '@vitascope/postgres'
import { notifyKeyChange } from './key-change.ts'

/** SQL: the session with key k has not ended. */
export const IS_VALID_SESSION = 'k.revoke_time is null and k.expire_time > now()'

/**
 * Revokes all sessions of a user that have not ended, except `keptSessionId`. The caller has changed the password, or
 * deleted the passkeys.
 */
export async function revokeSessions(query: Query, userId: string, keptSessionId?: string): Promise<void> {
  const rows = await query<{ api_key_id: string }>(
    `update api_key k set revoke_time = now() from session s
     where s.api_key_id = k.api_key_id and k.user_id = $1 and k.api_key_id is distinct from $2::bigint and ${IS_VALID_SESSION}
     returning k.api_key_id`,
    [userId, keptSessionId],
  )
  await notifyKeyChange(query, 'api_key_id = any ($1)', [rows.map((row) => row.api_key_id)])
}
