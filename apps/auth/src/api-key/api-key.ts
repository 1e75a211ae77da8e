import { DomainError, type FieldError, invalid, notFound, requireValid } from '@vitascope/errors'
import type { Call, UserKind } from '@vitascope/grpc'
import { isSystem, requireAuthenticated, requireSystem, systemOnly } from '@vitascope/principal'
import { checkText, isId, type PagePosition } from '@vitascope/request'
import { isResourceName } from '../access-list/access-list.ts'
import { hasConfiguredKeyForm, isKeyValue, makeKeyValue } from '../key/key-value.ts'
import { type OrganisationScope, requireSuperUser } from '../rules/caller.ts'
import { type GrantableResource, type KeyPreset, selectPreset } from './key-preset.ts'

export interface ApiKey {
  apiKeyId: string
  value: string
  userId: string
  organisationId: string
  userType: UserKind
  applicationName: string
  /** The current permissions: the granted ones without those that the type of the user may not have. */
  resources: readonly string[]
  expireTime: Date | undefined
  createTime: Date
  /** Time of the last use, accurate to two minutes. Undefined if the key was never used. */
  lastUsedTime: Date | undefined
}

export interface NewApiKey {
  userId: string
  applicationName: string
  resources: readonly string[]
  /** Instead of `resources`, which is then empty. */
  preset?: KeyPreset | undefined
  expireTime: Date | undefined
}

export type KeyOwner = { userId: string } | { organisationId: string }

/** Plain values never reach the database. The store finds keys by a keyed hash and stores the values encrypted. */
export interface ApiKeyStore {
  /** Returns a key, also if it has expired. Returns undefined for a revoked key. */
  find(value: string, signal: AbortSignal): Promise<ApiKey | undefined>
  /** Returns the keys that are not revoked, without those of sessions. Returns undefined if the owner does not exist. */
  list(owner: KeyOwner, page: PagePosition, signal: AbortSignal): Promise<ApiKey[] | undefined>
  /** Stores a key. `grant` validates and returns its permissions in the transaction. Throws USER_NOT_FOUND. */
  create(key: NewApiKey, value: string, grant: (context: GrantContext) => Grant, call: Call): Promise<ApiKey>
  /** Replaces the value of a key. Returns undefined if there is no such key. */
  replace(value: string, newValue: string, signal: AbortSignal): Promise<ApiKey | undefined>
  /**
   * Revokes a key. `checkAllowed` checks the locked key and throws if the caller may not revoke it.
   * Returns false if there is no such key.
   */
  revoke(
    key: { value: string; scope: OrganisationScope },
    checkAllowed: (key: { userType: UserKind }) => void,
    signal: AbortSignal,
  ): Promise<boolean>
}

/** Stored data that the granted permissions of a new key are checked against. */
export interface GrantContext {
  userType: UserKind
  /** All permissions that exist. */
  existingResources: readonly GrantableResource[]
}

/** Permissions by name, or all of them, also those of later versions. */
export type Grant = readonly string[] | 'all'

export async function createApiKey(keys: ApiKeyStore, newKey: NewApiKey, call: Call): Promise<ApiKey> {
  requireSystem(call.principal)
  if (!isId(newKey.userId)) throw notFound('user', newKey.userId)
  const resources = [...new Set(newKey.resources)]
  const { preset } = newKey
  const grant = ({ userType, existingResources }: GrantContext): Grant => {
    requireValid([
      ...checkText('application_name', newKey.applicationName, { max: 255, blank: false }),
      ...checkGrant('resources', resources, userType, existingResources),
      ...(preset !== undefined && resources.length > 0 ? [{ field: 'resources', message: 'must be empty with a preset' }] : []),
      ...checkExpiry('expire_time', newKey.expireTime, Date.now()),
    ])
    if (preset === undefined) return resources
    return preset === 'admin' ? 'all' : selectPreset(preset, existingResources, userType === 'uploader')
  }
  return keys.create({ ...newKey, resources }, makeKeyValue(), grant, call)
}

/**
 * Returns a key. Callers other than system users can only read the key that they call with. For
 * every other value they get the same error, whether or not the key exists.
 */
export async function getApiKey(keys: ApiKeyStore, value: string, { principal, signal }: Call): Promise<ApiKey> {
  requireAuthenticated(principal)
  const key = hasKeyForm(value) ? await keys.find(value, signal) : undefined
  if (!isSystem(principal) && (principal.kind !== 'user' || key?.apiKeyId !== principal.keyId)) {
    throw new DomainError('forbidden', 'OWN_KEY_ONLY', 'you can read only the key that you call with')
  }
  if (!key) throw createKeyNotFound()
  return key
}

export async function listApiKeys(keys: ApiKeyStore, owner: KeyOwner | undefined, page: PagePosition, { principal, signal }: Call) {
  requireSystem(principal)
  if (!owner) throw invalid([{ field: 'user_id', message: 'is required if organisation_id is missing' }])
  const [noun, id] = 'userId' in owner ? (['user', owner.userId] as const) : (['organisation', owner.organisationId] as const)
  const apiKeys = isId(id) ? await keys.list(owner, page, signal) : undefined
  if (!apiKeys) throw notFound(noun, id)
  return apiKeys
}

export async function regenerateApiKey(keys: ApiKeyStore, value: string, { principal, signal }: Call): Promise<ApiKey> {
  requireSystem(principal)
  const key = hasKeyForm(value) ? await keys.replace(value, makeKeyValue(), signal) : undefined
  if (!key) throw createKeyNotFound()
  return key
}

export async function revokeApiKey(keys: ApiKeyStore, value: string, { principal, signal }: Call): Promise<void> {
  const scope = requireSuperUser(principal)
  const checkAllowed = (key: { userType: UserKind }) => {
    if (scope !== undefined && key.userType === 'system') throw systemOnly()
  }
  if (!hasKeyForm(value) || !(await keys.revoke({ value, scope }, checkAllowed, signal))) throw createKeyNotFound()
}

/** Returns whether a value has the form of a generated or configured key. */
function hasKeyForm(value: string): boolean {
  return isKeyValue(value) || hasConfiguredKeyForm(value)
}

/** Returns the error for an unknown key. Its message omits the value, which may be a mistyped secret. */
function createKeyNotFound(): DomainError {
  return new DomainError('not_found', 'API_KEY_NOT_FOUND', 'no such API key')
}

function checkGrant(
  field: string,
  requested: readonly string[],
  userType: UserKind,
  existing: GrantContext['existingResources'],
): FieldError[] {
  const levels = new Map(existing.map(({ name, openToUsers }) => [name, openToUsers]))
  const unknown = requested.filter((name) => !levels.has(name))
  const superUserOnly = userType === 'uploader' ? requested.filter((name) => levels.get(name) === false) : []
  const problems = [
    ...(unknown.length > 0 ? [`must be in the access list, which does not contain ${formatNames(unknown)}`] : []),
    ...(superUserOnly.length > 0 ? [`must be permissions that an uploader may have, not ${formatNames(superUserOnly)}`] : []),
  ]
  return problems.length > 0 ? [{ field, message: problems.join('; ') }] : []
}

/** Returns the first five names for an error message. Malformed names are quoted. */
function formatNames(resources: readonly string[]): string {
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
