import { notFound, requireValid } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { requireUser } from '@vitascope/principal'
import type { HashPassword } from '../user/password.ts'
import { checkDetails, checkPassword, passwordNotAllowed, type User, type UserDetails, type UserStore } from '../user/user.ts'
import { isRecentSession, recentSignInRequired, type SessionStore } from './session.ts'

export interface OwnUserStores {
  users: Pick<UserStore, 'find' | 'update' | 'isProvisioned'>
  sessions: Pick<SessionStore, 'isRecent'>
  hashPassword: HashPassword
}

/** New values of the user of a session. */
export interface OwnUserInput {
  details: Partial<Pick<UserDetails, 'firstName' | 'lastName' | 'telephoneLand'>>
  password: string | undefined
}

/** Changes the user of the session of the caller. A new password ends its other sessions. */
export async function updateOwnUser(
  { users, sessions, hashPassword }: OwnUserStores,
  { details, password }: OwnUserInput,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<User> {
  const { userId, keyId } = requireUser(principal)
  const isRecent = await isRecentSession(sessions, { principal, signal })
  requireValid([...checkDetails(details), ...checkPassword(password)])
  if (password !== undefined) {
    if (await users.isProvisioned(userId, signal)) throw passwordNotAllowed()
    if (!isRecent) throw recentSignInRequired()
  }
  const passwordHash = password === undefined ? undefined : await hashPassword(password, signal)
  const change = { ...details, ...(passwordHash !== undefined && { passwordHash }) }
  const key = { userId, scope: undefined }
  const user =
    Object.keys(change).length === 0
      ? await users.find(key, signal)
      : await users.update({ ...key, keptSessionId: keyId }, change, () => {}, signal)
  if (!user) throw notFound('user', userId)
  return user
}
