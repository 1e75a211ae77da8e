import { DomainError } from '@vitascope/errors'
import type { Call, UserKind } from '@vitascope/grpc'
import { requireService } from '@vitascope/principal'
import { type KeyCipher, sameBytes } from '../key/key-encryption.ts'
import { hasConfiguredKeyForm, isKeyValue } from '../key/key-value.ts'

/** The owner and the permissions of a key. */
export interface Identity {
  apiKeyId: string
  userId: string
  organisationId: string
  userType: UserKind
  resources: readonly string[]
  expireTime: Date | undefined
}

/** The owner of a key and whether the key can be used. */
export interface KeyState extends Identity {
  revoked: boolean
  /** Whether the key has expired, by the clock of the database. */
  expired: boolean
  organisationActive: boolean
  userInvited: boolean
}

export interface IdentityStore {
  /** Returns the state of a key. It runs every few seconds for each key in use, so it is one indexed query. */
  findState(lookups: readonly Buffer[], signal: AbortSignal): Promise<KeyState | undefined>
  /** Changes the status of an invited user to active. */
  activate(userId: string, signal: AbortSignal): Promise<void>
}

/** The configured system key. It need not have the form of a generated key. */
export interface ConfiguredKey {
  /** Undefined if no key is configured, or `isRead` is false. */
  lookup: Buffer | undefined
  /** False if the key could not be read from the database. Then no value of its form can be rejected. */
  isRead: boolean
}

export interface Authentication {
  identities: IdentityStore
  cipher: KeyCipher
  configured(): ConfiguredKey
  /** Records the use of a key in memory. */
  recordUse(apiKeyId: string): void
}

export async function authenticate(
  { identities, cipher, configured, recordUse }: Authentication,
  key: string,
  { principal, signal }: Call,
) {
  requireService(principal)
  const lookups = computeLookups(cipher, key, configured())
  if (!lookups) throw invalidKey('KEY_MALFORMED', 'this is not an API key of this platform')
  const state = await identities.findState(lookups, signal)
  if (!state) throw invalidKey('KEY_UNKNOWN', 'no such API key')
  if (state.revoked) throw invalidKey('KEY_REVOKED', 'the API key was revoked')
  if (state.expired) throw invalidKey('KEY_EXPIRED', 'the API key has expired')
  if (!state.organisationActive) {
    throw new DomainError('forbidden', 'ORGANISATION_INACTIVE', 'the organisation of the API key is inactive')
  }
  if (state.userInvited) await identities.activate(state.userId, signal)
  recordUse(state.apiKeyId)
  return state
}

/**
 * Returns the lookup hashes of a value, or undefined if the value cannot be a key. Malformed values
 * therefore cost no query. Throws DATABASE_UNAVAILABLE if the value can be the configured key and
 * that key has not been read yet.
 */
function computeLookups(cipher: KeyCipher, key: string, configured: ConfiguredKey): Buffer[] | undefined {
  if (isKeyValue(key)) return cipher.lookups(key)
  if (!hasConfiguredKeyForm(key)) return undefined
  const lookups = cipher.lookups(key)
  const { lookup } = configured
  if (lookup && lookups.some((candidate) => sameBytes(candidate, lookup))) return lookups
  if (!configured.isRead)
    throw new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'keys cannot be checked at the moment; try again', { retryAfter: 1 })
  return undefined
}

function invalidKey(reason: string, message: string): DomainError {
  return new DomainError('unauthenticated', reason, message)
}
