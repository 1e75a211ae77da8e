import { DomainError, notFound, requireValid } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { requireUser, systemOnly } from '@vitascope/principal'
import { checkText, isId } from '@vitascope/request'
import { type OrganisationScope, requireSuperUser } from '../rules/caller.ts'
import { hashSecret, makeSecret } from '../rules/random-secret.ts'
import { type Client, requireRecentSignIn, type Session, type SessionStore } from '../session/session.ts'
import type { User } from '../user/user.ts'
import { type AttestationResponse, passkeyFailed, toRelyingParty, toUserHandle, type WebAuthn } from './webauthn.ts'

/** A credential as authenticators know it. Its id is base64url. */
export interface CredentialDescriptor {
  credentialId: string
  transports: string[]
}

/** What a registration stores of a credential. */
export interface NewPasskey extends CredentialDescriptor {
  /** COSE key. */
  publicKey: Uint8Array
  /** Number of signatures, or 0 if the authenticator does not count them. */
  counter: number
  name: string
  isBackedUp: boolean
}

export interface Passkey extends NewPasskey {
  passkeyId: string
  userId: string
  createTime: Date
  /** Undefined before the first sign-in. */
  lastUsedTime: Date | undefined
}

/** A registration or sign-in that has started. */
export interface Challenge {
  challenge: string
  /** The only user who may end it. Undefined for a sign-in by a passkey alone. */
  userId: string | undefined
}

export interface NewChallenge extends Challenge {
  browserHash: Buffer
  purpose: 'registration' | 'sign_in'
  minutes: number
}

/** A verified use of a passkey. */
export interface PasskeyUse {
  passkeyId: string
  userId: string
  counter: number
  isBackedUp: boolean
}

export interface PasskeyStore {
  /**
   * Stores the challenge of a registration. Returns the user and its credentials. Throws PASSKEY_NOT_ALLOWED and
   * PASSKEYS_FULL.
   */
  beginRegistration(
    challenge: NewChallenge & { userId: string },
    signal: AbortSignal,
  ): Promise<{ user: User; credentials: CredentialDescriptor[]; expireTime: Date }>
  /** Stores the challenge of a sign-in and returns when it expires. */
  beginSignIn(challenge: NewChallenge, signal: AbortSignal): Promise<Date>
  /** Deletes and returns a challenge. Returns undefined if it is unknown, expired, or of another browser. */
  takeChallenge(key: Pick<NewChallenge, 'browserHash' | 'purpose'>, signal: AbortSignal): Promise<Challenge | undefined>
  /** Throws PASSKEY_EXISTS, PASSKEY_NOT_ALLOWED and PASSKEYS_FULL. */
  create(userId: string, passkey: NewPasskey, signal: AbortSignal): Promise<Passkey>
  find(credentialId: string, signal: AbortSignal): Promise<Passkey | undefined>
  /** Returns the passkeys of a user, oldest first. */
  list(userId: string, signal: AbortSignal): Promise<Passkey[]>
  /** Returns undefined if the user has no such passkey. */
  rename(key: { passkeyId: string; userId: string }, name: string, signal: AbortSignal): Promise<Passkey | undefined>
  /** Returns false if the user has no such passkey. Throws LAST_PASSKEY. */
  delete(key: { passkeyId: string; userId: string }, signal: AbortSignal): Promise<boolean>
  /**
   * Deletes all passkeys of a user and ends its sessions. `checkAllowed` receives the locked user and throws if the
   * change is forbidden. Returns false if the user does not exist.
   */
  deleteAll(key: { userId: string; scope: OrganisationScope }, checkAllowed: (user: User) => void, signal: AbortSignal): Promise<boolean>
  /**
   * Stores a use and creates a session with the value of its key. Returns undefined if the passkey was deleted, or if the
   * counter is not above the stored one (both are 0 if the authenticator does not count). Throws ORGANISATION_INACTIVE.
   */
  signIn(use: PasskeyUse, session: Client & { value: string }, signal: AbortSignal): Promise<{ session: Session; user: User } | undefined>
  isPasskeyRequired(userId: string, signal: AbortSignal): Promise<boolean>
  /** Throws NO_PASSKEY if a user without a passkey would require one. */
  requirePasskey(userId: string, isRequired: boolean, signal: AbortSignal): Promise<void>
}

export interface PasskeyParts {
  store: PasskeyStore
  webAuthn: WebAuthn
  sessions: Pick<SessionStore, 'isRecent'>
}

export const MAX_PASSKEYS = 20
/** Time that a user has for the authenticator. */
const MINUTES = 5
const MAX_NAME_LENGTH = 100
/** Values of the WebAuthn registry. Others that a browser reports are not stored. */
const TRANSPORTS = new Set(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])

/** Returns a new challenge, and the secret that binds it to the browser. */
export function makeChallenge<Purpose extends NewChallenge['purpose']>(purpose: Purpose) {
  const [challenge, browserSecret] = [makeSecret(), makeSecret()]
  return { browserSecret, stored: { challenge, purpose, browserHash: hashSecret(browserSecret), minutes: MINUTES } }
}

export async function beginRegistration(
  { store, sessions }: PasskeyParts,
  origin: string,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
) {
  const { userId } = requireUser(principal)
  const { rpId } = toRelyingParty(origin)
  // A new passkey would be a recent sign-in by itself.
  await requireRecentSignIn(sessions, { principal, signal })
  const { browserSecret, stored } = makeChallenge('registration')
  const { user, credentials, expireTime } = await store.beginRegistration({ ...stored, userId }, signal)
  return { challenge: stored.challenge, rpId, userHandle: toUserHandle(userId), user, excluded: credentials, browserSecret, expireTime }
}

export interface Registration extends AttestationResponse {
  origin: string
  browserSecret: string
  name: string
  transports: readonly string[]
}

export async function registerPasskey(
  { store, webAuthn }: PasskeyParts,
  { origin, browserSecret, name, transports, ...response }: Registration,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<Passkey> {
  const { userId } = requireUser(principal)
  requireValid(checkName(name))
  const taken = await store.takeChallenge({ browserHash: hashSecret(browserSecret), purpose: 'registration' }, signal)
  if (taken?.userId !== userId) throw passkeyFailed()
  const credential = await webAuthn.verifyAttestation(response, { challenge: taken.challenge, ...toRelyingParty(origin) })
  const known = [...new Set(transports)].filter((transport) => TRANSPORTS.has(transport))
  return store.create(userId, { ...credential, name: name.trim(), transports: known }, signal)
}

export function listPasskeys({ store }: PasskeyParts, { principal, signal }: Pick<Call, 'principal' | 'signal'>): Promise<Passkey[]> {
  return store.list(requireUser(principal).userId, signal)
}

export async function renamePasskey(
  { store }: PasskeyParts,
  { passkeyId, name }: { passkeyId: string; name: string },
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<Passkey> {
  const { userId } = requireUser(principal)
  requireValid(checkName(name))
  const renamed = isId(passkeyId) ? await store.rename({ passkeyId, userId }, name.trim(), signal) : undefined
  if (!renamed) throw notFound('passkey', passkeyId)
  return renamed
}

export async function deletePasskey(
  { store, sessions }: PasskeyParts,
  passkeyId: string,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<void> {
  const { userId } = requireUser(principal)
  await requireRecentSignIn(sessions, { principal, signal })
  if (!isId(passkeyId) || !(await store.delete({ passkeyId, userId }, signal))) throw notFound('passkey', passkeyId)
}

/** Deletes the passkeys of a user who has lost the devices with them, and ends the sessions of that user. */
export async function deleteUserPasskeys(
  { store, sessions }: PasskeyParts,
  userId: string,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<void> {
  const scope = requireSuperUser(principal)
  if (principal.kind === 'user' && principal.userId === userId) await requireRecentSignIn(sessions, { principal, signal })
  const checkAllowed = ({ userType }: User) => {
    if (scope !== undefined && userType === 'system') throw systemOnly()
  }
  if (!isId(userId) || !(await store.deleteAll({ userId, scope }, checkAllowed, signal))) throw notFound('user', userId)
}

export interface SignInSettings {
  passkeyRequired: boolean
}

export async function getSignInSettings(
  { store }: PasskeyParts,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<SignInSettings> {
  return { passkeyRequired: await store.isPasskeyRequired(requireUser(principal).userId, signal) }
}

export async function updateSignInSettings(
  { store, sessions }: PasskeyParts,
  { passkeyRequired }: SignInSettings,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
): Promise<SignInSettings> {
  const { userId } = requireUser(principal)
  if (!passkeyRequired && (await store.isPasskeyRequired(userId, signal))) await requireRecentSignIn(sessions, { principal, signal })
  await store.requirePasskey(userId, passkeyRequired, signal)
  return { passkeyRequired }
}

export function noPasskey(): DomainError {
  return new DomainError('failed_precondition', 'NO_PASSKEY', 'the user has no passkey; add one first')
}

function checkName(name: string) {
  return checkText('name', name, { max: MAX_NAME_LENGTH, blank: false })
}
