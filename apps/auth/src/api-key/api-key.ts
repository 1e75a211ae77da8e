import { DomainError, type FieldError, invalid, notFound, requireValid } from '@vitascope/errors'
import type { Call, UserKind } from '@vitascope/grpc'
import { isSystem, requireAuthenticated, requireSystem, systemOnly } from '@vitascope/principal'
import { checkText, isId, type PagePlace } from '@vitascope/request'
import { isResourceName } from '../access-list/access-list.ts'
import { isConfiguredForm, isKeyValue, makeKeyValue } from '../key/key-value.ts'
import { type OrganisationScope, requireSuperUser } from '../rules/caller.ts'

export interface ApiKey {
  apiKeyId: string
  value: string
  userId: string
  organisationId: string
  userType: UserKind
  applicationName: string
  /** The current permissions: those granted to the key that its user's type may hold. */
  resources: readonly string[]
  expireTime: Date | undefined
  createTime: Date
  /** Accurate to one or two minutes; undefined if never used. */
  lastUsedTime: Date | undefined
}

export interface NewApiKey {
  userId: string
  applicationName: string
  resources: readonly string[]
  expireTime: Date | undefined
}

export type KeyOwner = { userId: string } | { organisationId: string }

/** Plain values never reach the database. The store finds keys by a keyed hash and stores the values encrypted. */
export interface ApiKeyStore {
  /** Returns a working or expired key. Revoked keys are not found. */
  find(value: string, signal: AbortSignal): Promise<ApiKey | undefined>
  /** Returns undefined if the owner does not exist. */
  list(owner: KeyOwner, place: PagePlace, signal: AbortSignal): Promise<ApiKey[] | undefined>
  /** `check` validates the grant within the transaction. Throws USER_NOT_FOUND. */
  create(key: NewApiKey, value: string, check: (facts: GrantFacts) => void, call: Call): Promise<ApiKey>
  replace(value: string, newValue: string, signal: AbortSignal): Promise<ApiKey | undefined>
  /**
   * `allowed` checks the locked key and throws if the caller may not revoke it. Returns false if
   * there is no such key.
   */
  revoke(
    key: { value: string; within: OrganisationScope },
    allowed: (key: { userType: UserKind }) => void,
    signal: AbortSignal,
  ): Promise<boolean>
}

/** The data of the database that a grant is checked against. */
export interface GrantFacts {
  userType: UserKind
  /** The requested permissions that exist. */
  known: readonly { name: string; openToUsers: boolean }[]
}

export async function createApiKey(keys: ApiKeyStore, wanted: NewApiKey, call: Call): Promise<ApiKey> {
  requireSystem(call.principal)
  if (!isId(wanted.userId)) throw notFound('user', wanted.userId)
  const resources = [...new Set(wanted.resources)]
  const check = ({ userType, known }: GrantFacts) =>
    requireValid([
      ...checkText('application_name', wanted.applicationName, { max: 255, blank: false }),
      ...checkGrant('resources', resources, userType, known),
      ...checkExpiry('expire_time', wanted.expireTime, Date.now()),
    ])
  return keys.create({ ...wanted, resources }, makeKeyValue(), check, call)
}

/**
 * Returns a key. Callers other than system users can only read the key that they call with. For any
 * other value they get the same error, whether it exists or not.
 */
export async function getApiKey(keys: ApiKeyStore, value: string, { principal, signal }: Call): Promise<ApiKey> {
  requireAuthenticated(principal)
  const key = mayExist(value) ? await keys.find(value, signal) : undefined
  if (!isSystem(principal) && (principal.kind !== 'user' || key?.apiKeyId !== principal.keyId)) {
    throw new DomainError('forbidden', 'OWN_KEY_ONLY', 'you can read only the key that you call with')
  }
  if (!key) throw noSuchKey()
  return key
}

export async function listApiKeys(keys: ApiKeyStore, owner: KeyOwner | undefined, place: PagePlace, { principal, signal }: Call) {
  requireSystem(principal)
  if (!owner) throw invalid([{ field: 'user_id', message: 'is required, or organisation_id' }])
  const [noun, id] = 'userId' in owner ? (['user', owner.userId] as const) : (['organisation', owner.organisationId] as const)
  const found = isId(id) ? await keys.list(owner, place, signal) : undefined
  if (!found) throw notFound(noun, id)
  return found
}

export async function regenerateApiKey(keys: ApiKeyStore, value: string, { principal, signal }: Call): Promise<ApiKey> {
  requireSystem(principal)
  const key = mayExist(value) ? await keys.replace(value, makeKeyValue(), signal) : undefined
  if (!key) throw noSuchKey()
  return key
}

export async function revokeApiKey(keys: ApiKeyStore, value: string, { principal, signal }: Call): Promise<void> {
  const within = requireSuperUser(principal)
  const allowed = (key: { userType: UserKind }) => {
    if (within !== undefined && key.userType === 'system') throw systemOnly()
  }
  if (!mayExist(value) || !(await keys.revoke({ value, within }, allowed, signal))) throw noSuchKey()
}

/** Returns whether a value has the form of a key. */
function mayExist(value: string): boolean {
  return isKeyValue(value) || isConfiguredForm(value)
}

/** The message omits the value: even a value with one wrong character is confidential. */
function noSuchKey(): DomainError {
  return new DomainError('not_found', 'API_KEY_NOT_FOUND', 'no such API key')
}

function checkGrant(field: string, wanted: readonly string[], userType: UserKind, known: GrantFacts['known']): FieldError[] {
  const levels = new Map(known.map(({ name, openToUsers }) => [name, openToUsers]))
  const unknown = wanted.filter((name) => !levels.has(name))
  const closed = userType === 'uploader' ? wanted.filter((name) => levels.get(name) === false) : []
  const problems = [
    ...(unknown.length > 0 ? [`must be in the access list, which does not contain ${named(unknown)}`] : []),
    ...(closed.length > 0 ? [`must be permissions that an uploader may have, not ${named(closed)}`] : []),
  ]
  return problems.length > 0 ? [{ field, message: problems.join('; ') }] : []
}

/** Returns the first five names for an error message, and quotes those that are malformed. */
function named(resources: readonly string[]): string {
  return resources
    .slice(0, 5)
    .map((name) => (isResourceName(name) ? name : JSON.stringify(name.toWellFormed().slice(0, 40))))
    .join(', ')
}

function checkExpiry(field: string, expireTime: Date | undefined, now: number): FieldError[] {
  if (expireTime === undefined) return []
  const time = expireTime.getTime()
  if (Number.isNaN(time)) return [{ field, message: 'must be a time' }]
  return time > now ? [] : [{ field, message: 'must be in the future' }]
}
