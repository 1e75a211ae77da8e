import { DomainError, notFound, requireValid } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { requireService, systemOnly } from '@vitascope/principal'
import { checkText, isId, isUuid } from '@vitascope/request'
import { makeKeyValue } from '../key/key-value.ts'
import { type OrganisationScope, requireSuperUser } from '../rules/caller.ts'
import { hashSecret, makeSecret } from '../rules/random-secret.ts'
import { type Client, organisationInactive, passkeyRequired, type Session, toClient } from '../session/session.ts'
import type { HashPassword } from '../user/password.ts'
import { checkDetails, checkPassword, type User } from '../user/user.ts'

export type LinkPurpose = 'first_user' | 'invitation' | 'password_reset'

/** A valid link. */
export interface SignInLink {
  purpose: LinkPurpose
  /** True for the first user, who has no organisation yet. */
  isOrganisationActive: boolean
}

/** What the user of a link enters. */
export interface LinkUser {
  passwordHash: string
  firstName?: string | undefined
  lastName?: string | undefined
  email?: string | undefined
}

/** A link that is sent by mail. */
export interface SentLink {
  purpose: LinkPurpose
  email: string
  name: string
  expireTime: Date
}

export interface SignInLinkStore {
  /**
   * Creates a link, queues its mail and returns the email address. `checkAllowed` checks the locked user and throws if
   * it must not be invited. Throws USER_NOT_FOUND and TOO_MANY_LINKS.
   */
  createInvitation(key: { userId: string; scope: OrganisationScope }, checkAllowed: (user: User) => void, call: Call): Promise<string>
  /** Queues the creation of a link for the user with this address, if there is one. */
  requestReset(email: string, signal: AbortSignal): Promise<void>
  /** Sets the secret and the expiry time of a link that has not expired. Returns undefined if there is no such link. */
  issue(signInLinkId: string, secretHash: Buffer, signal: AbortSignal): Promise<SentLink | undefined>
  /** Returns undefined if the link is unknown, expired or used. */
  find(secretHash: Buffer, signal: AbortSignal): Promise<SignInLink | undefined>
  /**
   * Deletes all links of the user, changes the user, ends its sessions and creates one with the value of its key. Creates
   * the first user. Returns undefined if the link is not valid any more. The session is undefined if the sign-in of the
   * user requires a passkey. Throws EMAIL_TAKEN.
   */
  use(
    secretHash: Buffer,
    user: LinkUser,
    session: Client & { value: string },
    signal: AbortSignal,
  ): Promise<{ session: Session | undefined; user: User } | undefined>
}

export interface LinkUse {
  secret: string
  password: string
  firstName?: string | undefined
  lastName?: string | undefined
  email?: string | undefined
  address: string
  userAgent: string
}

/** How long a link is valid after it was sent. */
export const VALID_HOURS: Readonly<Record<Exclude<LinkPurpose, 'first_user'>, number>> = { invitation: 7 * 24, password_reset: 1 }
/** Maximum number of links of one purpose that are created for a user within an hour. */
export const MAX_LINKS_PER_HOUR = 5

/** Returns a new secret with the hash that is stored in its place. */
export function makeLinkSecret(): { secret: string; secretHash: Buffer } {
  const secret = makeSecret()
  return { secret, secretHash: hashSecret(secret) }
}

/** Sets the password of the user of a link and creates a session. Throws PASSKEY_REQUIRED if the password is set without one. */
export async function useSignInLink(
  links: SignInLinkStore,
  hashPassword: HashPassword,
  { secret, password, firstName, lastName, email, address, userAgent }: LinkUse,
  { signal }: Pick<Call, 'signal'>,
): Promise<{ session: Session; value: string; user: User }> {
  const secretHash = hashSecret(secret)
  const link = await links.find(secretHash, signal)
  if (!link) throw linkInvalid()
  if (!link.isOrganisationActive) throw organisationInactive()
  const trimmedEmail = email?.trim()
  requireValid([
    ...checkDetails({
      ...(firstName !== undefined && { firstName }),
      ...(lastName !== undefined && { lastName }),
      ...(trimmedEmail !== undefined && { email: trimmedEmail }),
    }),
    ...checkPassword(password),
    ...(email !== undefined && link.purpose !== 'first_user'
      ? [{ field: 'email', message: 'must be absent: only the first user chooses the email address' }]
      : []),
  ])
  const passwordHash = await hashPassword(password, signal)
  const value = makeKeyValue()
  const user = { passwordHash, firstName, lastName, email: trimmedEmail }
  const used = await links.use(secretHash, user, { ...toClient({ address, userAgent }), value }, signal)
  if (!used) throw linkInvalid()
  const { session } = used
  if (!session) throw passkeyRequired('the new password is set; sign in with it and your passkey')
  return { session, user: used.user, value }
}

/** Sends a link to a user who has no password yet. Returns the email address. */
export async function createInvitation(links: Pick<SignInLinkStore, 'createInvitation'>, userId: string, call: Call): Promise<string> {
  const scope = requireSuperUser(call.principal)
  if (!isId(userId)) throw notFound('user', userId)
  const checkAllowed = ({ userType, status }: User) => {
    if (scope !== undefined && userType === 'system') throw systemOnly()
    if (status === 'invited') return
    throw new DomainError('failed_precondition', 'USER_ACTIVE', 'the user is active; it can request a new password on the sign-in page')
  }
  return links.createInvitation({ userId, scope }, checkAllowed, call)
}

/**
 * Requests a link for a new password. The user is searched later, so neither the response nor its time reveals whether
 * there is one.
 */
export async function requestPasswordReset(
  links: Pick<SignInLinkStore, 'requestReset'>,
  email: string,
  { signal }: Pick<Call, 'signal'>,
): Promise<void> {
  requireValid(checkText('email', email, { min: 1, max: 254 }))
  await links.requestReset(email.trim(), signal)
}

/** Creates the secret of a link for its mail. */
export async function issueSignInLink(
  links: Pick<SignInLinkStore, 'issue'>,
  signInLinkId: string,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<SentLink & { secret: string }> {
  requireService(principal)
  const { secret, secretHash } = makeLinkSecret()
  const link = isUuid(signInLinkId) ? await links.issue(signInLinkId, secretHash, signal) : undefined
  if (!link) throw new DomainError('not_found', 'LINK_NOT_FOUND', 'the link was used, or has expired')
  return { ...link, secret }
}

function linkInvalid(): DomainError {
  return new DomainError('forbidden', 'LINK_INVALID', 'the link is unknown, expired or already used; request a new one')
}
