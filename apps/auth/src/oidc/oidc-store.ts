import { DomainError } from '@vitascope/errors'
import type { Db, Query, RetainedTable } from '@vitascope/postgres'
import { notifyKeyChange } from '../key/key-change.ts'
import type { KeyCipher } from '../key/key-encryption.ts'
import { createExpiryRetention } from '../rules/expiry-retention.ts'
import { organisationInactive } from '../session/session.ts'
import { insertSession } from '../session/session-store.ts'
import { PREFIXED_USER_COLUMNS, toUser, type UserRow, withEmailConflict } from '../user/user-store.ts'
import type { OidcStore, OidcUser } from './oidc.ts'

interface FoundRow extends UserRow {
  active: boolean
  is_provisioned: boolean
}

export function createOidcStore(db: Db, cipher: KeyCipher): OidcStore {
  return {
    async begin({ stateHash, browserHash, nonce, codeVerifier, minutes }, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<{ expire_time: Date }>(
        `insert into oidc_sign_in (state_hash, browser_hash, nonce, code_verifier, expire_time)
         values ($1, $2, $3, $4, now() + $5::int * interval '1 minute') returning expire_time`,
        [stateHash, browserHash, nonce, codeVerifier, minutes],
      )
      if (!row) throw new Error('the insert of a sign-in returned no row')
      return row.expire_time
    },
    async take({ stateHash, browserHash }, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<{ nonce: string; code_verifier: string }>(
        'delete from oidc_sign_in where state_hash = $1 and browser_hash = $2 and expire_time > now() returning nonce, code_verifier',
        [stateHash, browserHash],
      )
      return row && { nonce: row.nonce, codeVerifier: row.code_verifier }
    },
    signIn: (user, { value, address, userAgent }, signal) =>
      withEmailConflict(
        db.transaction(async ({ query }) => {
          const found = (await findByIdentity(query, user)) ?? (await linkByEmail(query, user)) ?? (await createUser(query, user))
          if (!found) throw unknownUser()
          if (!found.active) throw organisationInactive()
          const typeByGroups = found.is_provisioned && user.isTypeByGroups ? user.userType : found.user_type
          // The groups of the provider no longer give access.
          if (typeByGroups === undefined) throw unknownUser()
          // No group makes a user a system user, so none ends that either. It may be the last one.
          const userType = found.user_type === 'system' ? found.user_type : typeByGroups
          const [changed] = await query<UserRow>(
            `update users u set user_type = $2, status = 'active',
               update_time = case when user_type = $2 and status = 'active' then update_time else now() end
             where user_id = $1 returning ${PREFIXED_USER_COLUMNS}`,
            [found.user_id, userType],
          )
          if (userType !== found.user_type) await notifyKeyChange(query, 'user_id = $1', [found.user_id])
          const session = await insertSession(query, cipher, { userId: found.user_id, address, userAgent, value })
          return { session, user: toUser(changed as UserRow) }
        }, signal),
      ),
  }
}

async function findByIdentity(query: Query, { issuer, subject }: OidcUser): Promise<FoundRow | undefined> {
  const [row] = await query<FoundRow>(
    `select ${PREFIXED_USER_COLUMNS}, o.active, i.is_provisioned
     from oidc_identity i join users u using (user_id) join organisation o using (organisation_id)
     where i.issuer = $1 and i.subject = $2 for no key update of u`,
    [issuer, subject],
  )
  return row
}

/**
 * Links the identity to the user who has its verified email address, unless that user already has an identity of this
 * provider.
 * System users are not linked, so that an account at the provider cannot take over the whole platform.
 */
async function linkByEmail(query: Query, { issuer, subject, verifiedEmail }: OidcUser): Promise<FoundRow | undefined> {
  if (verifiedEmail === undefined) return undefined
  const [row] = await query<FoundRow>(
    `select ${PREFIXED_USER_COLUMNS}, o.active, false as is_provisioned from users u join organisation o using (organisation_id)
     where lower(u.email) = lower($1) and u.user_type <> 'system'
       and not exists (select from oidc_identity i where i.user_id = u.user_id and i.issuer = $2)
     for no key update of u`,
    [verifiedEmail, issuer],
  )
  if (row) await insertIdentity(query, { issuer, subject, userId: row.user_id, isProvisioned: false })
  return row
}

async function createUser(query: Query, { issuer, subject, userType, created }: OidcUser): Promise<FoundRow | undefined> {
  if (!created) return undefined
  const [organisation] = await query<{ active: boolean }>('select active from organisation where organisation_id = $1', [
    created.organisationId,
  ])
  if (!organisation) return undefined
  const [row] = await query<UserRow>(
    `insert into users as u (organisation_id, first_name, last_name, email, user_type, status) values ($1, $2, $3, $4, $5, 'active')
     returning ${PREFIXED_USER_COLUMNS}`,
    [created.organisationId, created.firstName, created.lastName, created.email, userType],
  )
  if (!row) throw new Error('the insert of a user returned no row')
  await insertIdentity(query, { issuer, subject, userId: row.user_id, isProvisioned: true })
  return { ...row, active: organisation.active, is_provisioned: true }
}

async function insertIdentity(
  query: Query,
  { issuer, subject, userId, isProvisioned }: { issuer: string; subject: string; userId: string; isProvisioned: boolean },
): Promise<void> {
  await query('insert into oidc_identity (issuer, subject, user_id, is_provisioned) values ($1, $2, $3, $4)', [
    issuer,
    subject,
    userId,
    isProvisioned,
  ])
}

function unknownUser(): DomainError {
  return new DomainError('forbidden', 'OIDC_USER_UNKNOWN', 'your account at the identity provider has no access to this platform')
}

/** Returns the retention of unfinished sign-ins. */
export function oidcRetention(db: Db): RetainedTable {
  return createExpiryRetention(db, 'oidc_sign_in', { key: 'state_hash' })
}
