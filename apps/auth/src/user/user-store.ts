import { DomainError, notFound } from '@vitascope/errors'
import type { UserKind } from '@vitascope/grpc'
import { type Db, isUniqueViolation, type Query, withIdempotency } from '@vitascope/postgres'
import { notifyKeyChange } from '../key/key-change.ts'
import { plainCodec } from '../key/response-codec.ts'
import { revokeSessions } from '../key/revoke-sessions.ts'
import type { User, UserStatus, UserStore } from './user.ts'

export interface UserRow {
  user_id: string
  organisation_id: string
  first_name: string
  last_name: string
  email: string
  user_type: UserKind
  status: UserStatus
  telephone_land: string
  invited_by_user_id: string | null
  create_time: Date
  update_time: Date
}

const COLUMNS = [
  ...['user_id', 'organisation_id', 'first_name', 'last_name', 'email', 'user_type', 'status', 'telephone_land'],
  ...['invited_by_user_id', 'create_time', 'update_time'],
]
/** The columns of a user, without the password. */
export const USER_COLUMNS = COLUMNS.join(', ')
/** `USER_COLUMNS` of a statement in which the users are called `u`. */
export const PREFIXED_USER_COLUMNS = COLUMNS.map((column) => `u.${column}`).join(', ')

export function createUserStore(db: Db): UserStore {
  return {
    async find({ userId, scope }, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<UserRow>(
        `select ${USER_COLUMNS} from users where user_id = $1 and ($2::bigint is null or organisation_id = $2)`,
        [userId, scope],
      )
      return row && toUser(row)
    },
    async findByEmail(email, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<UserRow>(`select ${USER_COLUMNS} from users where lower(email) = lower($1)`, [email])
      return row && toUser(row)
    },
    async findAll(userIds, signal) {
      signal.throwIfAborted()
      const rows = await db.query<UserRow>(`select ${USER_COLUMNS} from users where user_id = any ($1::bigint[])`, [userIds])
      return rows.map(toUser)
    },
    async list(organisationId, { limit, after, skip }, signal) {
      signal.throwIfAborted()
      const rows = await db.query<UserRow>(
        `select ${USER_COLUMNS} from users where organisation_id = $1 and user_id > $2 order by user_id offset $3 limit $4`,
        [organisationId, after, skip, limit],
      )
      if (rows.length === 0 && !(await organisationExists(db.query, organisationId))) return undefined
      return rows.map(toUser)
    },
    create: (user, call) =>
      withEmailConflict(
        withIdempotency(db, call, plainCodec<User>(), async (tx) => {
          if (!(await organisationExists(tx.query, user.organisationId))) throw notFound('organisation', user.organisationId)
          const [row] = await tx.query<UserRow>(
            `insert into users (organisation_id, first_name, last_name, email, user_type, status, telephone_land, invited_by_user_id,
               password_hash)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${USER_COLUMNS}`,
            [
              user.organisationId,
              user.firstName,
              user.lastName,
              user.email,
              user.userType,
              user.status,
              user.telephoneLand,
              user.invitedByUserId,
              user.passwordHash,
            ],
          )
          return toUser(row as UserRow)
        }),
      ),
    async isProvisioned(userId, signal) {
      signal.throwIfAborted()
      return isProvisioned(db.query, userId)
    },
    update: ({ userId, scope, keptSessionId }, change, checkAllowed, signal) =>
      withEmailConflict(
        db.transaction(async ({ query }) => {
          if (change.userType !== undefined) await lockSystemUsers(query)
          const [row] = await query<UserRow>(
            `select ${USER_COLUMNS} from users where user_id = $1 and ($2::bigint is null or organisation_id = $2) for no key update`,
            [userId, scope],
          )
          if (!row) return undefined
          const before = toUser(row)
          checkAllowed(before)
          const after = { ...before, ...change }
          if (before.userType === 'system' && after.userType !== 'system') await requireOtherSystemUser(query, userId)
          const [updated] = await query<UserRow>(
            `update users set first_name = $2, last_name = $3, email = $4, user_type = $5, status = $6, telephone_land = $7,
               password_hash = coalesce($8, password_hash), update_time = now()
             where user_id = $1 returning ${USER_COLUMNS}`,
            [userId, after.firstName, after.lastName, after.email, after.userType, after.status, after.telephoneLand, change.passwordHash],
          )
          if (after.userType !== before.userType) await notifyKeyChange(query, 'user_id = $1', [userId])
          if (change.passwordHash !== undefined) await revokeSessions(query, userId, keptSessionId)
          // A mail to the old address, or from before the new password, must not give access.
          if (change.passwordHash !== undefined || after.email !== before.email)
            await query('delete from sign_in_link where user_id = $1', [userId])
          return toUser(updated as UserRow)
        }, signal),
      ),
    delete: (userId, signal) =>
      db.transaction(async ({ query }) => {
        await lockSystemUsers(query)
        const [row] = await query<{ user_type: UserKind }>('select user_type from users where user_id = $1 for update', [userId])
        if (!row) return false
        if (row.user_type === 'system') await requireOtherSystemUser(query, userId)
        await notifyKeyChange(query, 'user_id = $1', [userId])
        await query('delete from users where user_id = $1', [userId])
        return true
      }, signal),
  }
}

/** Whether a sign-in at an identity provider created the user. */
export async function isProvisioned(query: Query, userId: string): Promise<boolean> {
  return (await query('select from oidc_identity where user_id = $1 and is_provisioned limit 1', [userId])).length > 0
}

/** Serialises the removal of system users, so that two transactions cannot remove the last two. */
function lockSystemUsers(query: Query): Promise<unknown> {
  return query(`select pg_advisory_xact_lock(hashtextextended('vitascope auth system users', 0))`)
}

async function requireOtherSystemUser(query: Query, userId: string): Promise<void> {
  const [other] = await query(`select from users where user_type = 'system' and user_id <> $1 limit 1`, [userId])
  if (!other) {
    throw new DomainError('failed_precondition', 'LAST_SYSTEM_USER', 'this is the last system user; create another one first')
  }
}

/** Organisations are never deleted, so no lock is needed. */
async function organisationExists(query: Query, organisationId: string): Promise<boolean> {
  return (await query('select from organisation where organisation_id = $1', [organisationId])).length > 0
}

/** Replaces the error for an email address that exists already. */
export async function withEmailConflict<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!isUniqueViolation(error, 'users_email')) throw error
    throw new DomainError('exists', 'EMAIL_TAKEN', 'this email address is already in use', { cause: error })
  }
}

export function toUser(row: UserRow): User {
  return {
    userId: row.user_id,
    organisationId: row.organisation_id,
    firstName: row.first_name,
    lastName: row.last_name,
    email: row.email,
    userType: row.user_type,
    status: row.status,
    telephoneLand: row.telephone_land,
    invitedByUserId: row.invited_by_user_id ?? undefined,
    createTime: row.create_time,
    updateTime: row.update_time,
  }
}
