import type { Db, Query } from '@vitascope/postgres'
import { encryptKeyValue } from '../api-key/api-key-store.ts'
import { notifyKeyChange } from '../key/key-change.ts'
import type { KeyCipher } from '../key/key-encryption.ts'
import { IS_VALID_SESSION } from '../key/revoke-sessions.ts'
import { PREFIXED_USER_COLUMNS, toUser, type UserRow } from '../user/user-store.ts'
import { type Client, MAX_SESSIONS, passkeyRequired, SESSION_HOURS, type Session, type SessionStore } from './session.ts'

interface SessionRow {
  api_key_id: string
  user_id: string
  address: string
  user_agent: string
  create_time: Date
  expire_time: Date
  last_used_time: Date | null
}

const SELECT = `select k.api_key_id, k.user_id, s.address, s.user_agent, k.create_time, k.expire_time,
    (select last_used_time from api_key_use u where u.api_key_id = k.api_key_id)
  from session s join api_key k using (api_key_id)`

export function createSessionStore(db: Db, cipher: KeyCipher): SessionStore {
  return {
    async findCredentials(email, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<UserRow & { password_hash: string | null; active: boolean }>(
        `select ${PREFIXED_USER_COLUMNS}, u.password_hash, o.active
         from users u join organisation o using (organisation_id) where lower(u.email) = lower($1)`,
        [email],
      )
      return row && { user: toUser(row), passwordHash: row.password_hash ?? undefined, isOrganisationActive: row.active }
    },
    create: ({ userId, passwordHash, address, userAgent }, value, signal) =>
      db.transaction(async ({ query }) => {
        // The lock serialises the sign-ins of a user, so that the limit holds.
        const [user] = await query<{ passkey_required: boolean }>(
          'select passkey_required from users where user_id = $1 and password_hash = $2 for no key update',
          [userId, passwordHash],
        )
        if (!user) return undefined
        if (user.passkey_required) throw passkeyRequired('the password is right; your passkey is required too')
        return insertSession(query, cipher, { userId, address, userAgent, value })
      }, signal),
    async list(userId, signal) {
      signal.throwIfAborted()
      const rows = await db.query<SessionRow>(`${SELECT} where k.user_id = $1 and ${IS_VALID_SESSION} order by k.api_key_id`, [userId])
      return rows.map(toSession)
    },
    async isRecent(keyId, minutes, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<{ is_recent: boolean }>(
        `select k.create_time > now() - $2::int * interval '1 minute' as is_recent
         from session s join api_key k using (api_key_id) where s.api_key_id = $1`,
        [keyId, minutes],
      )
      return row?.is_recent
    },
    delete: ({ sessionId, userId }, signal) =>
      db.transaction(async ({ query }) => {
        const rows = await query(
          `update api_key k set revoke_time = now() from session s
           where s.api_key_id = k.api_key_id and k.api_key_id = $1 and k.user_id = $2 and ${IS_VALID_SESSION} returning k.api_key_id`,
          [sessionId, userId],
        )
        if (rows.length === 0) return false
        await notifyKeyChange(query, 'api_key_id = $1', [sessionId])
        return true
      }, signal),
  }
}

/** Stores a session with the value of its key. The row of the user must be locked. */
export async function insertSession(
  query: Query,
  cipher: KeyCipher,
  { userId, address, userAgent, value }: Client & { userId: string; value: string },
): Promise<Session> {
  await deleteSpent(query, userId)
  const { lookup, sealed } = encryptKeyValue(cipher, value)
  // No event announces that a session expires, because it does so within a day.
  const [key] = await query<{ api_key_id: string }>(
    `insert into api_key (user_id, application_name, lookup, sealed_value, all_resources, expire_time, warn_time)
     values ($1, 'session', $2, $3, true, now() + interval '${SESSION_HOURS} hours', now()) returning api_key_id`,
    [userId, lookup, sealed],
  )
  const sessionId = key?.api_key_id ?? ''
  await query('insert into session (api_key_id, address, user_agent) values ($1, $2, $3)', [sessionId, address, userAgent])
  await query('update installation set first_sign_in_time = now() where first_sign_in_time is null')
  const [row] = await query<SessionRow>(`${SELECT} where k.api_key_id = $1`, [sessionId])
  if (!row) throw new Error('the insert of a session returned no row')
  return toSession(row)
}

/** Deletes the sessions of a user that have ended, and the oldest ones beyond the limit. */
async function deleteSpent(query: Query, userId: string): Promise<void> {
  const rows = await query<{ api_key_id: string }>(
    `select k.api_key_id from session s join api_key k using (api_key_id) where k.user_id = $1
     order by ${IS_VALID_SESSION} desc, k.api_key_id desc offset $2`,
    [userId, MAX_SESSIONS - 1],
  )
  const ids = rows.map((row) => row.api_key_id)
  await notifyKeyChange(query, 'api_key_id = any ($1)', [ids])
  await query(
    `delete from api_key k using session s where s.api_key_id = k.api_key_id and k.user_id = $1
       and (k.api_key_id = any ($2) or not (${IS_VALID_SESSION}))`,
    [userId, ids],
  )
}

function toSession(row: SessionRow): Session {
  return {
    sessionId: row.api_key_id,
    userId: row.user_id,
    address: row.address,
    userAgent: row.user_agent,
    createTime: row.create_time,
    expireTime: row.expire_time,
    lastUsedTime: row.last_used_time ?? undefined,
  }
}
