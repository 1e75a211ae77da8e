import { createHash, randomBytes } from 'node:crypto'
import { DomainError, requireValid } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { makeKeyValue } from '../key/key-value.ts'
import { type Client, type Session, toClient } from '../session/session.ts'
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

export interface SignInLinkStore {
  /** Returns undefined if the link is unknown, expired or used. */
  find(secretHash: Buffer, signal: AbortSignal): Promise<SignInLink | undefined>
  /**
   * Deletes all links of the user, changes the user, ends its sessions and creates one with the value of its key. Creates
   * the first user. Returns undefined if the link is not valid any more. Throws EMAIL_TAKEN.
   */
  use(
    secretHash: Buffer,
    user: LinkUser,
    session: Client & { value: string },
    signal: AbortSignal,
  ): Promise<{ session: Session; user: User } | undefined>
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

/** 256 random bits, so that a hash without a salt suffices. */
const SECRET_BYTES = 32

/** Returns a new secret with the hash that is stored in its place. */
export function makeLinkSecret(): { secret: string; secretHash: Buffer } {
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  return { secret, secretHash: hashSecret(secret) }
}

function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Sets the password of the user of a link and creates a session. */
export async function useSignInLink(
  links: SignInLinkStore,
  hashPassword: HashPassword,
  { secret, password, firstName, lastName, email, address, userAgent }: LinkUse,
  { signal }: Pick<Call, 'signal'>,
): Promise<{ session: Session; value: string; user: User }> {
  const secretHash = hashSecret(secret)
  const link = await links.find(secretHash, signal)
  if (!link) throw linkInvalid()
  if (!link.isOrganisationActive) throw new DomainError('forbidden', 'ORGANISATION_INACTIVE', 'your organisation is inactive')
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
  return { ...used, value }
}

function linkInvalid(): DomainError {
  return new DomainError('forbidden', 'LINK_INVALID', 'the link is unknown, expired or already used; request a new one')
}
