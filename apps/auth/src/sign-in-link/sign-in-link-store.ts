import { randomUUID } from 'node:crypto'
import { DomainError, notFound } from '@vitascope/errors'
import { type Channel, serviceCall } from '@vitascope/grpc'
import { type Db, type Outbox, type OutboxHandlers, type Query, type RetainedTable, withIdempotency } from '@vitascope/postgres'
import { MailServiceService } from '@vitascope/proto/catalogue/v1/mail'
import type { KeyCipher } from '../key/key-encryption.ts'
import { plainCodec } from '../key/response-codec.ts'
import { revokeSessions } from '../key/revoke-sessions.ts'
import { SYSTEM_ORGANISATION } from '../organisation/organisation.ts'
import { createExpiryRetention } from '../rules/expiry-retention.ts'
import { insertSession } from '../session/session-store.ts'
import { passwordNotAllowed } from '../user/user.ts'
import { isProvisioned, toUser, USER_COLUMNS, type UserRow, withEmailConflict } from '../user/user-store.ts'
import { type LinkPurpose, type LinkUser, MAX_LINKS_PER_HOUR, type SignInLinkStore, VALID_HOURS } from './sign-in-link.ts'

const FIRST_EMAIL = 'admin@localhost'
/** SQL: the link l is still valid. Links of the first user end with the first sign-in of any user. */
const IS_VALID = `l.expire_time > now()
  and (l.purpose <> 'first_user' or not exists (select from installation where first_sign_in_time is not null))`

interface LinkRow {
  user_id: string | null
  purpose: LinkPurpose
}

export function createSignInLinkStore(db: Db, cipher: KeyCipher, outbox: Outbox): SignInLinkStore {
  return {
    createInvitation: ({ userId, scope }, checkAllowed, call) =>
      withIdempotency(db, call, plainCodec<string>(), async (tx) => {
        const [row] = await tx.query<UserRow>(
          `select ${USER_COLUMNS} from users where user_id = $1 and ($2::bigint is null or organisation_id = $2) for no key update`,
          [userId, scope],
        )
        if (!row) throw notFound('user', userId)
        const user = toUser(row)
        checkAllowed(user)
        if (await isProvisioned(tx.query, userId)) throw passwordNotAllowed()
        const signInLinkId = randomUUID()
        if (!(await insertLink(tx.query, { signInLinkId, userId, purpose: 'invitation' }))) throw tooManyLinks()
        const payload: LinkMail = { signInLinkId, userId, organisationId: user.organisationId }
        await outbox.enqueue(tx, { topic: LINK_MAIL_TOPIC, key: `link:${signInLinkId}`, payload })
        return user.email
      }),
    requestReset: (email, signal) =>
      db.transaction(async (tx) => {
        const payload: ResetRequest = { signInLinkId: randomUUID(), email }
        await outbox.enqueue(tx, { topic: RESET_TOPIC, key: `link:${payload.signInLinkId}`, payload })
      }, signal),
    async issue(signInLinkId, secretHash, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<{ purpose: LinkPurpose; email: string; name: string; expire_time: Date }>(
        `update sign_in_link l set secret_hash = $2,
           expire_time = now() + case l.purpose when 'invitation' then $3::int else $4::int end * interval '1 hour'
         from users u where u.user_id = l.user_id and l.sign_in_link_id = $1 and l.expire_time > now()
         returning l.purpose, u.email, concat_ws(' ', u.first_name, u.last_name) as name, l.expire_time`,
        [signInLinkId, secretHash, VALID_HOURS.invitation, VALID_HOURS.password_reset],
      )
      return row && { purpose: row.purpose, email: row.email, name: row.name, expireTime: row.expire_time }
    },
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
          const [user] = await query<UserRow & { passkey_required: boolean }>(
            `update users set password_hash = $2, first_name = coalesce($3, first_name), last_name = coalesce($4, last_name),
               status = 'active', update_time = now()
             where user_id = $1 returning ${USER_COLUMNS}, passkey_required`,
            [userId, change.passwordHash, change.firstName, change.lastName],
          )
          await query('delete from sign_in_link where user_id = $1', [userId])
          await revokeSessions(query, userId)
          if (!user) throw new Error('the update of a user returned no row')
          // A mail is not a second factor.
          if (user.passkey_required) return { session: undefined, user: toUser(user) }
          const session = await insertSession(query, cipher, { userId, address, userAgent, value })
          return { session, user: toUser(user) }
        }, signal),
      ),
  }
}

/** A link whose mail catalogue will send. */
interface LinkMail {
  signInLinkId: string
  userId: string
  organisationId: string
}

interface ResetRequest {
  signInLinkId: string
  email: string
}

const LINK_MAIL_TOPIC = 'sign_in_link_mail'
const RESET_TOPIC = 'password_reset'

/** Returns the outbox handlers that create links for new passwords, and that queue mails with links at the catalogue. */
export function signInLinkOutboxHandlers(db: Db, catalogue: Channel): OutboxHandlers {
  const mails = catalogue.client(MailServiceService)
  const queueMail = async (mail: LinkMail, signal: AbortSignal) => {
    await mails.queueSignInLink(mail, serviceCall('auth', randomUUID(), signal))
  }
  return {
    [LINK_MAIL_TOPIC]: queueMail,
    async [RESET_TOPIC]({ signInLinkId, email }: ResetRequest, signal) {
      const mail = await createResetLink(db, { signInLinkId, email })
      if (mail) await queueMail(mail, signal)
    },
  }
}

/**
 * Creates the link, unless an earlier attempt has created it. Returns undefined if no active user of an active
 * organisation has the address, or if that user has too many links. An identity provider decides about the users that it
 * created, so they get no password.
 */
async function createResetLink(db: Db, { signInLinkId, email }: ResetRequest): Promise<LinkMail | undefined> {
  return db.transaction(async ({ query }) => {
    const [user] = await query<{ user_id: string; organisation_id: string }>(
      `select u.user_id, u.organisation_id from users u join organisation o using (organisation_id)
       where lower(u.email) = lower($1) and u.status = 'active' and o.active
         and not exists (select from oidc_identity i where i.user_id = u.user_id and i.is_provisioned)`,
      [email],
    )
    if (!user) return undefined
    const [existing] = await query('select from sign_in_link where sign_in_link_id = $1', [signInLinkId])
    if (!existing && !(await insertLink(query, { signInLinkId, userId: user.user_id, purpose: 'password_reset' }))) return undefined
    return { signInLinkId, userId: user.user_id, organisationId: user.organisation_id }
  })
}

/** Inserts a link, whose mail must be sent within a day. Returns false if the user got too many links in the last hour. */
async function insertLink(
  query: Query,
  { signInLinkId, userId, purpose }: { signInLinkId: string; userId: string; purpose: LinkPurpose },
): Promise<boolean> {
  // The lock serialises the links of a user, so that the limit holds.
  await query('select from users where user_id = $1 for no key update', [userId])
  const rows = await query(
    `insert into sign_in_link (sign_in_link_id, user_id, purpose, expire_time) select $1, $2, $3, now() + interval '1 day'
     where (select count(*) from sign_in_link where user_id = $2 and purpose = $3 and create_time > now() - interval '1 hour') < $4
     returning 1`,
    [signInLinkId, userId, purpose, MAX_LINKS_PER_HOUR],
  )
  return rows.length > 0
}

function tooManyLinks(): DomainError {
  return new DomainError(
    'exhausted',
    'TOO_MANY_LINKS',
    `the user was invited ${MAX_LINKS_PER_HOUR} times within an hour; try again later`,
    {
      retryAfter: 3_600,
    },
  )
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

/** Returns the retention of links: they are deleted a day after they have expired. */
export function signInLinkRetention(db: Db): RetainedTable {
  return createExpiryRetention(db, 'sign_in_link', { key: 'sign_in_link_id', graceHours: 24 })
}
