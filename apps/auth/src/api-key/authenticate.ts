import { DomainError } from '@vitascope/errors'
import type { Call, UserKind } from '@vitascope/grpc'
import { onlyServices } from '../caller.ts'
import { type KeyBox, sameBytes } from './key-box.ts'
import { isConfiguredForm, isKeyValue } from './key-value.ts'

/** Who calls with a key. */
export interface Identity {
  apiKeyId: string
  userId: string
  organisationId: string
  userType: UserKind
  resources: readonly string[]
  expireTime: Date | undefined
}

/** All that is known of a key's value, working or not. */
export interface KeyState extends Identity {
  revoked: boolean
  /** By the clock of the database. */
  expired: boolean
  organisationActive: boolean
  userInvited: boolean
}

export interface IdentityStore {
  /** One indexed query: this is the hot path. */
  state(lookup: Buffer, signal: AbortSignal): Promise<KeyState | undefined>
  /** Makes an invited user active. */
  activate(userId: string, signal: AbortSignal): Promise<void>
}

/** The one key that has a form of its own, as far as it is known. */
export interface ConfiguredKey {
  lookup: Buffer | undefined
  /** False while it could not be read from the database: then nobody can say that a value is not it. */
  isRead: boolean
}

export interface Authentication {
  identities: IdentityStore
  box: KeyBox
  configured(): ConfiguredKey
  /** Takes down that a key was used; costs nothing here. */
  noteUse(apiKeyId: string): void
}

export async function authenticate({ identities, box, configured, noteUse }: Authentication, key: string, { principal, signal }: Call) {
  onlyServices(principal)
  const lookup = lookupOf(box, key, configured())
  if (!lookup) throw refusal('KEY_MALFORMED', 'this is not an API key of this platform')
  const state = await identities.state(lookup, signal)
  if (!state) throw refusal('KEY_UNKNOWN', 'no such API key')
  if (state.revoked) throw refusal('KEY_REVOKED', 'the API key was revoked')
  if (state.expired) throw refusal('KEY_EXPIRED', 'the API key has expired')
  if (!state.organisationActive) {
    throw new DomainError('forbidden', 'ORGANISATION_INACTIVE', 'the organisation of the API key is inactive')
  }
  if (state.userInvited) await identities.activate(state.userId, signal)
  noteUse(state.apiKeyId)
  return state
}

/** Undefined for what cannot be a key: junk costs no query. */
function lookupOf(box: KeyBox, key: string, configured: ConfiguredKey): Buffer | undefined {
  if (isKeyValue(key)) return box.lookup(key)
  if (!isConfiguredForm(key)) return undefined
  const lookup = box.lookup(key)
  if (configured.lookup && sameBytes(lookup, configured.lookup)) return lookup
  if (!configured.isRead)
    throw new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'keys cannot be checked just now: try again', { retryAfter: 1 })
  return undefined
}

function refusal(reason: string, message: string): DomainError {
  return new DomainError('unauthenticated', reason, message)
}
