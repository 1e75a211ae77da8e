import { requireValid } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { checkText } from '@vitascope/request'
import { makeKeyValue } from '../key/key-value.ts'
import { hashSecret } from '../rules/random-secret.ts'
import { type Client, checkCredentials, type Session, type SessionStore, toClient } from '../session/session.ts'
import type { MatchesPassword } from '../user/password.ts'
import type { User } from '../user/user.ts'
import { makeChallenge, noPasskey, type PasskeyParts } from './passkey.ts'
import { type AssertionResponse, isCredentialId, passkeyFailed, toRelyingParty, toUserHandle } from './webauthn.ts'

/** How a sign-in checks a password. */
export interface PasswordParts {
  sessions: Pick<SessionStore, 'findCredentials'>
  matchesPassword: MatchesPassword
}

/** Begins a sign-in by a passkey alone, or with the passkey as the second factor of a password. */
export async function beginPasskeySignIn(
  { store }: PasskeyParts,
  passwords: PasswordParts,
  { origin, credentials }: { origin: string; credentials: { email: string; password: string } | undefined },
  { signal }: Pick<Call, 'signal'>,
) {
  const { rpId } = toRelyingParty(origin)
  const userId = credentials && (await findUserOfPassword(passwords, credentials, signal))
  const passkeys = userId === undefined ? [] : await store.list(userId, signal)
  if (userId !== undefined && passkeys.length === 0) throw noPasskey()
  const { browserSecret, stored } = makeChallenge('sign_in')
  const expireTime = await store.beginSignIn({ ...stored, userId }, signal)
  const allowed = passkeys.map(({ credentialId, transports }) => ({ credentialId, transports }))
  return { challenge: stored.challenge, rpId, allowed, browserSecret, expireTime }
}

async function findUserOfPassword(
  { sessions, matchesPassword }: PasswordParts,
  { email, password }: { email: string; password: string },
  signal: AbortSignal,
): Promise<string> {
  requireValid([...checkText('email', email, { min: 1, max: 254 }), ...checkText('password', password, { min: 1, max: 1_000 })])
  const { user } = await checkCredentials(sessions, matchesPassword, { email, password }, signal)
  return user.userId
}

export interface PasskeySignIn extends AssertionResponse, Client {
  origin: string
  browserSecret: string
  userHandle?: string | undefined
}

/** Ends a sign-in. All problems of the response have the same error. */
export async function completePasskeySignIn(
  { store, webAuthn }: PasskeyParts,
  { origin, browserSecret, userHandle, address, userAgent, ...response }: PasskeySignIn,
  { signal }: Pick<Call, 'signal'>,
): Promise<{ session: Session; value: string; user: User }> {
  const taken = await store.takeChallenge({ browserHash: hashSecret(browserSecret), purpose: 'sign_in' }, signal)
  if (!taken) throw passkeyFailed()
  const passkey = isCredentialId(response.credentialId) ? await store.find(response.credentialId, signal) : undefined
  if (!passkey || (taken.userId !== undefined && taken.userId !== passkey.userId)) throw passkeyFailed()
  // Without a password, the handle must name the user (WebAuthn Level 3, section 7.2, step 6).
  if (userHandle === undefined ? taken.userId === undefined : userHandle !== toUserHandle(passkey.userId)) throw passkeyFailed()
  const verified = await webAuthn.verifyAssertion(response, passkey, { challenge: taken.challenge, ...toRelyingParty(origin) })
  const value = makeKeyValue()
  const { passkeyId, userId } = passkey
  const created = await store.signIn({ passkeyId, userId, ...verified }, { ...toClient({ address, userAgent }), value }, signal)
  if (!created) throw passkeyFailed()
  return { ...created, value }
}
