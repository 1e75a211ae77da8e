import { DomainError } from '@vitascope/errors'
import { type Db, isUniqueViolation, type Query, type RetainedTable } from '@vitascope/postgres'
import type { KeyCipher } from '../key/key-encryption.ts'
import { revokeSessions } from '../key/revoke-sessions.ts'
import { createExpiryRetention } from '../rules/expiry-retention.ts'
import { organisationInactive } from '../session/session.ts'
import { insertSession } from '../session/session-store.ts'
import { PREFIXED_USER_COLUMNS, toUser, type UserRow } from '../user/user-store.ts'
import { MAX_PASSKEYS, type NewChallenge, noPasskey, type Passkey, type PasskeyStore } from './passkey.ts'

interface PasskeyRow {
  passkey_id: string
  user_id: string
  credential_id: string
  public_key: Buffer
  counter: string
  transports: string[]
  name: string
  backed_up: boolean
  create_time: Date
  last_used_time: Date | null
}

const COLUMNS = 'passkey_id, user_id, credential_id, public_key, counter, transports, name, backed_up, create_time, last_used_time'

export function createPasskeyStore(db: Db, cipher: KeyCipher): PasskeyStore {
  return {
    beginRegistration: (challenge, signal) =>
      db.transaction(async ({ query }) => {
        const user = await lockRegisteringUser(query, challenge.userId)
        const passkeys = await listPasskeys(query, challenge.userId)
        const credentials = passkeys.map(({ credentialId, transports }) => ({ credentialId, transports }))
        return { user: toUser(user), credentials, expireTime: await insertChallenge(query, challenge) }
      }, signal),
    async beginSignIn(challenge, signal) {
      signal.throwIfAborted()
      return insertChallenge(db.query, challenge)
    },
    async takeChallenge({ browserHash, purpose }, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<{ challenge: string; user_id: string | null }>(
        'delete from passkey_challenge where browser_hash = $1 and purpose = $2 and expire_time > now() returning challenge, user_id',
        [browserHash, purpose],
      )
      return row && { challenge: row.challenge, userId: row.user_id ?? undefined }
    },
    async create(userId, { credentialId, publicKey, counter, transports, name, isBackedUp }, signal) {
      try {
        return await db.transaction(async ({ query }) => {
          await lockRegisteringUser(query, userId)
          const [row] = await query<PasskeyRow>(
            `insert into passkey (user_id, credential_id, public_key, counter, transports, name, backed_up)
             values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
            [userId, credentialId, Buffer.from(publicKey), counter, transports, name, isBackedUp],
          )
          return toPasskey(row as PasskeyRow)
        }, signal)
      } catch (error) {
        if (!isUniqueViolation(error, 'passkey_credential')) throw error
        throw new DomainError('exists', 'PASSKEY_EXISTS', 'this passkey is registered already', { cause: error })
      }
    },
    async find(credentialId, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<PasskeyRow>(`select ${COLUMNS} from passkey where credential_id = $1`, [credentialId])
      return row && toPasskey(row)
    },
    async list(userId, signal) {
      signal.throwIfAborted()
      return listPasskeys(db.query, userId)
    },
    async rename({ passkeyId, userId }, name, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<PasskeyRow>(`update passkey set name = $3 where passkey_id = $1 and user_id = $2 returning ${COLUMNS}`, [
        passkeyId,
        userId,
        name,
      ])
      return row && toPasskey(row)
    },
    delete: ({ passkeyId, userId }, signal) =>
      db.transaction(async ({ query }) => {
        const [user] = await query<{ passkey_required: boolean }>(
          'select passkey_required from users where user_id = $1 for no key update',
          [userId],
        )
        const rows = await query<{ passkey_id: string }>('select passkey_id from passkey where user_id = $1', [userId])
        if (!rows.some((row) => row.passkey_id === passkeyId)) return false
        if (user?.passkey_required && rows.length === 1) throw lastPasskey()
        await query('delete from passkey where passkey_id = $1', [passkeyId])
        return true
      }, signal),
    deleteAll: ({ userId, scope }, checkAllowed, signal) =>
      db.transaction(async ({ query }) => {
        const [row] = await query<UserRow>(
          `select ${PREFIXED_USER_COLUMNS} from users u where user_id = $1 and ($2::bigint is null or organisation_id = $2)
           for no key update`,
          [userId, scope],
        )
        if (!row) return false
        checkAllowed(toUser(row))
        await query('delete from passkey where user_id = $1', [userId])
        await query('delete from passkey_challenge where user_id = $1', [userId])
        await query('update users set passkey_required = false where user_id = $1', [userId])
        await revokeSessions(query, userId)
        return true
      }, signal),
    signIn: ({ passkeyId, userId, counter, isBackedUp }, { value, address, userAgent }, signal) =>
      db.transaction(async ({ query }) => {
        // The lock serialises the sign-ins of a user.
        const [user] = await query<UserRow & { active: boolean }>(
          `select ${PREFIXED_USER_COLUMNS}, o.active from users u join organisation o using (organisation_id)
           where u.user_id = $1 for no key update of u`,
          [userId],
        )
        const changed = await query(
          `update passkey set counter = $2, backed_up = $3, last_used_time = now()
           where passkey_id = $1 and (counter < $2 or (counter = 0 and $2 = 0)) returning 1`,
          [passkeyId, counter, isBackedUp],
        )
        if (!user || changed.length === 0) return undefined
        if (!user.active) throw organisationInactive()
        return { session: await insertSession(query, cipher, { userId, address, userAgent, value }), user: toUser(user) }
      }, signal),
    async isPasskeyRequired(userId, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<{ passkey_required: boolean }>('select passkey_required from users where user_id = $1', [userId])
      return row?.passkey_required ?? false
    },
    requirePasskey: (userId, isRequired, signal) =>
      db.transaction(async ({ query }) => {
        // The lock excludes the deletion of the last passkey at the same time.
        await query('select from users where user_id = $1 for no key update', [userId])
        const passkeys = await query('select from passkey where user_id = $1 limit 1', [userId])
        if (isRequired && passkeys.length === 0) throw noPasskey()
        await query('update users set passkey_required = $2 where user_id = $1', [userId, isRequired])
      }, signal),
  }
}

/**
 * Locks and returns a user who may register a passkey. The lock makes the limit hold. An identity provider decides about
 * the users that it created, so they get no passkey.
 */
async function lockRegisteringUser(query: Query, userId: string): Promise<UserRow> {
  const [user] = await query<UserRow>(
    `select ${PREFIXED_USER_COLUMNS} from users u where user_id = $1 and status = 'active'
       and not exists (select from oidc_identity i where i.user_id = u.user_id and i.is_provisioned)
     for no key update`,
    [userId],
  )
  if (!user) throw notAllowed()
  const rows = await query('select from passkey where user_id = $1', [userId])
  if (rows.length >= MAX_PASSKEYS) throw passkeysFull()
  return user
}

async function listPasskeys(query: Query, userId: string): Promise<Passkey[]> {
  const rows = await query<PasskeyRow>(`select ${COLUMNS} from passkey where user_id = $1 order by passkey_id`, [userId])
  return rows.map(toPasskey)
}

async function insertChallenge(query: Query, { browserHash, purpose, userId, challenge, minutes }: NewChallenge): Promise<Date> {
  const [row] = await query<{ expire_time: Date }>(
    `insert into passkey_challenge (browser_hash, purpose, user_id, challenge, expire_time)
     values ($1, $2, $3, $4, now() + $5::int * interval '1 minute') returning expire_time`,
    [browserHash, purpose, userId, challenge, minutes],
  )
  if (!row) throw new Error('the insert of a challenge returned no row')
  return row.expire_time
}

function toPasskey(row: PasskeyRow): Passkey {
  return {
    passkeyId: row.passkey_id,
    userId: row.user_id,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    counter: Number(row.counter),
    transports: row.transports,
    name: row.name,
    isBackedUp: row.backed_up,
    createTime: row.create_time,
    lastUsedTime: row.last_used_time ?? undefined,
  }
}

function notAllowed(): DomainError {
  return new DomainError(
    'failed_precondition',
    'PASSKEY_NOT_ALLOWED',
    'invited users, and users that an identity provider created, cannot have passkeys',
  )
}

function passkeysFull(): DomainError {
  return new DomainError('failed_precondition', 'PASSKEYS_FULL', `a user has at most ${MAX_PASSKEYS} passkeys; delete one first`)
}

function lastPasskey(): DomainError {
  return new DomainError(
    'failed_precondition',
    'LAST_PASSKEY',
    'this is your last passkey, and your sign-in requires one; add another one, or switch that requirement off first',
  )
}

/** Returns the retention of unused challenges. */
export function passkeyRetention(db: Db): RetainedTable {
  return createExpiryRetention(db, 'passkey_challenge', { key: 'browser_hash' })
}
