import type { Db, Query } from '@vitascope/postgres'
import type { KeyCipher } from '../key/key-encryption.ts'
import { revokeSessions } from '../key/revoke-sessions.ts'
import { SYSTEM_ORGANISATION } from '../organisation/organisation.ts'
import { insertSession } from '../session/session-store.ts'
import { toUser, USER_COLUMNS, type UserRow, withEmailConflict } from '../user/user-store.ts'
import type { LinkPurpose, LinkUser, SignInLinkStore } from './sign-in-link.ts'

const COLUMNS = USER_COLUMNS.join(', ')
const FIRST_EMAIL = 'admin@localhost'
/** SQL: the link l is still valid. Links of the first user end with the first sign-in of any user. */
const IS_VALID = `l.expire_time > now()
  and (l.purpose <> 'first_user' or not exists (select from installation where first_sign_in_time is not null))`

interface LinkRow {
  user_id: string | null
  purpose: LinkPurpose
}

export function createSignInLinkStore(db: Db, cipher: KeyCipher): SignInLinkStore {
  return {
    async find(secretHash, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<{ purpose: LinkPurpose; active: boolean }>(
        `select l.purpose, coalesce(o.active, true) as active
         from sign_in_link l left join users u using (user_id) left join organisation o using (organisation_id)
         where l.secret_hash = $1 and ${IS_VALID}`,
        [secretHash],
      )
      return row && { purpose: row.purpose, isOrganisationActive: row.active }
    },
    use: (secretHash, change, { value, address, userAgent }, signal) =>
      withEmailConflict(
        db.transaction(async ({ query }) => {
          // Two browsers may use the link at the same time. The second one finds no row.
          const [link] = await query<LinkRow>(
            `delete from sign_in_link l where l.secret_hash = $1 and ${IS_VALID} returning l.user_id, l.purpose`,
            [secretHash],
          )
          if (!link) return undefined
          const userId = link.user_id ?? (await createFirstUser(query, change))
          const [user] = await query<UserRow>(
            `update users set password_hash = $2, first_name = coalesce($3, first_name), last_name = coalesce($4, last_name),
               status = 'active', update_time = now()
             where user_id = $1 returning ${COLUMNS}`,
            [userId, change.passwordHash, change.firstName, change.lastName],
          )
          await query('delete from sign_in_link where user_id = $1', [userId])
          await revokeSessions(query, userId)
          const session = await insertSession(query, cipher, { userId, address, userAgent, value })
          return { session, user: toUser(user as UserRow) }
        }, signal),
      ),
  }
}

async function createFirstUser(query: Query, { firstName, lastName, email }: LinkUser): Promise<string> {
  const [row] = await query<{ user_id: string }>(
    `insert into users (organisation_id, first_name, last_name, email, user_type, status)
     values ($1, $2, $3, $4, 'system', 'active') returning user_id`,
    [SYSTEM_ORGANISATION, firstName ?? 'Admin', lastName ?? 'User', email ?? FIRST_EMAIL],
  )
  return row?.user_id ?? ''
}

/** Replaces the link of the first user. Returns false if a user has signed in already. */
export function replaceFirstUserLink(db: Db, { secretHash, hours }: { secretHash: Buffer; hours: number }): Promise<boolean> {
  return db.transaction(async ({ query }) => {
    await query(`delete from sign_in_link where purpose = 'first_user'`)
    const rows = await query(
      `insert into sign_in_link (purpose, secret_hash, expire_time) select 'first_user', $1, now() + $2 * interval '1 hour'
       where not exists (select from installation where first_sign_in_time is not null) returning 1`,
      [secretHash, hours],
    )
    return rows.length > 0
  })
}

/** Removes up to `limit` expired links and returns their number. */
export async function sweepSignInLinks(db: Db, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from sign_in_link where sign_in_link_id in
       (select sign_in_link_id from sign_in_link where expire_time < now() - interval '1 day' order by expire_time limit $1)
     returning 1`,
    [limit],
  )
  return rows.length
}
