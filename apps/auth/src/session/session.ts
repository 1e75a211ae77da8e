import { DomainError, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { requireUser } from '@vitascope/principal'
import { firstCharacters, isId, isStorable } from '@vitascope/request'
import { makeKeyValue } from '../key/key-value.ts'
import type { MatchesPassword } from '../user/password.ts'
import type { User } from '../user/user.ts'

export interface Session {
  sessionId: string
  userId: string
  address: string
  userAgent: string
  createTime: Date
  expireTime: Date
  /** Time of the last use, accurate to two minutes. Undefined if the session was never used. */
  lastUsedTime: Date | undefined
}

/** What a sign-in is checked against. */
export interface Credentials {
  user: User
  passwordHash: string | undefined
  isOrganisationActive: boolean
}

/** The browser of a sign-in. */
export interface Client {
  address: string
  userAgent: string
}

export interface NewSession extends Client {
  userId: string
  /** The hash that was checked. */
  passwordHash: string
}

export interface SessionStore {
  findCredentials(email: string, signal: AbortSignal): Promise<Credentials | undefined>
  /**
   * Stores a session with the value of its key. Returns undefined if the password has changed since it was checked. Throws
   * PASSKEY_REQUIRED.
   */
  create(session: NewSession, value: string, signal: AbortSignal): Promise<Session | undefined>
  /** Returns the sessions of a user that are neither revoked nor expired, oldest first. */
  list(userId: string, signal: AbortSignal): Promise<Session[]>
  /** Returns whether a session began at most `minutes` ago. Returns undefined if the key is not a session. */
  isRecent(keyId: string, minutes: number, signal: AbortSignal): Promise<boolean | undefined>
  /** Returns false if the user has no such session. */
  delete(key: { sessionId: string; userId: string }, signal: AbortSignal): Promise<boolean>
}

/** How long a session is valid. */
export const SESSION_HOURS = 12
/** Maximum number of sessions of a user. A further sign-in ends the oldest one. */
export const MAX_SESSIONS = 100
/** Age of a session up to which it may change how its user signs in. */
const RECENT_MINUTES = 5

const MAX_USER_AGENT_LENGTH = 255

export interface SignIn extends Client {
  email: string
  password: string
}

/** Checks a password and creates a session. */
export async function signIn(
  sessions: SessionStore,
  matchesPassword: MatchesPassword,
  { email, password, address, userAgent }: SignIn,
  { signal }: Pick<Call, 'signal'>,
): Promise<{ session: Session; value: string; user: User }> {
  const found = await checkCredentials(sessions, matchesPassword, { email, password }, signal)
  const value = makeKeyValue()
  const session = await sessions.create(
    { userId: found.user.userId, passwordHash: found.passwordHash, ...toClient({ address, userAgent }) },
    value,
    signal,
  )
  if (!session) throw signInFailed()
  return { session, value, user: found.user }
}

/**
 * Returns the user of a password. An unknown address, a user without a password and a wrong password have the same error,
 * and take the same time.
 */
export async function checkCredentials(
  sessions: Pick<SessionStore, 'findCredentials'>,
  matchesPassword: MatchesPassword,
  { email, password }: Pick<SignIn, 'email' | 'password'>,
  signal: AbortSignal,
): Promise<Credentials & { passwordHash: string }> {
  const found = isStorable(email) ? await sessions.findCredentials(email.trim(), signal) : undefined
  const isRight = await matchesPassword(found?.passwordHash, password, signal)
  if (!found?.passwordHash || !isRight) throw signInFailed()
  if (!found.isOrganisationActive) throw organisationInactive()
  return { ...found, passwordHash: found.passwordHash }
}

/** Error for a sign-in of a user whose organisation is inactive. */
export function organisationInactive(): DomainError {
  return new DomainError('forbidden', 'ORGANISATION_INACTIVE', 'your organisation is inactive')
}

/** Returns what a session stores of a browser. */
export function toClient({ address, userAgent }: Client): Client {
  return {
    address: isStorable(address) ? address : '',
    userAgent: isStorable(userAgent) ? firstCharacters(userAgent, MAX_USER_AGENT_LENGTH) : '',
  }
}

export async function listSessions(sessions: SessionStore, { principal, signal }: Pick<Call, 'principal' | 'signal'>): Promise<Session[]> {
  return sessions.list(requireUser(principal).userId, signal)
}

export async function deleteSession(
  sessions: SessionStore,
  sessionId: string,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<void> {
  const { userId } = requireUser(principal)
  if (!isId(sessionId) || !(await sessions.delete({ sessionId, userId }, signal))) throw notFound('user session', sessionId)
}

/**
 * Throws RECENT_SIGN_IN_REQUIRED if the session of the caller is older than 5 minutes. A stolen cookie or an open browser
 * thus does not suffice to change how the user signs in. API keys are not sessions and pass, because programs cannot sign
 * in.
 */
export async function requireRecentSignIn(
  sessions: Pick<SessionStore, 'isRecent'>,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<void> {
  const { keyId } = requireUser(principal)
  if ((await sessions.isRecent(keyId, RECENT_MINUTES, signal)) === false) throw recentSignInRequired()
}

/** Returns whether the session of the caller may change how its user signs in. Throws USER_SESSION_NOT_FOUND for an API key. */
export async function isRecentSession(
  sessions: Pick<SessionStore, 'isRecent'>,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<boolean> {
  const isRecent = await sessions.isRecent(requireUser(principal).keyId, RECENT_MINUTES, signal)
  if (isRecent === undefined) throw new DomainError('not_found', 'USER_SESSION_NOT_FOUND', 'the request has no cookie of a session')
  return isRecent
}

/** Error of a session that is too old to change how its user signs in. */
export function recentSignInRequired(): DomainError {
  return new DomainError(
    'forbidden',
    'RECENT_SIGN_IN_REQUIRED',
    `your sign-in is more than ${RECENT_MINUTES} minutes ago; sign in again with your password or a passkey, and repeat the request`,
  )
}

/** Error of a user whose sign-in requires a passkey too. */
export function passkeyRequired(message: string): DomainError {
  return new DomainError('forbidden', 'PASSKEY_REQUIRED', message)
}

function signInFailed(): DomainError {
  return new DomainError('forbidden', 'SIGN_IN_FAILED', 'the email address or the password is wrong')
}
