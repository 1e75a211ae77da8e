import { DomainError, invalid } from '@vitascope/errors'
import type { Call, UserKind } from '@vitascope/grpc'
import { isResourceName } from '../access-list/access-list.ts'
import { isSystem, noGuests, onlySuperUsers, onlySystem, systemOnly, type Within } from '../caller.ts'
import { inspection, isId, nothingThere, type Problem, textProblem } from '../input.ts'
import type { Page } from '../page.ts'
import { isConfiguredForm, isKeyValue, makeKeyValue } from './key-value.ts'

export interface ApiKey {
  apiKeyId: string
  value: string
  userId: string
  organisationId: string
  userType: UserKind
  applicationName: string
  /** What it may do at this moment: those granted that its user's type may hold. */
  resources: readonly string[]
  expireTime: Date | undefined
  createTime: Date
  /** To a minute or two; undefined for never. */
  lastUsedTime: Date | undefined
}

export interface NewApiKey {
  userId: string
  applicationName: string
  resources: readonly string[]
  expireTime: Date | undefined
}

export type KeyOwner = { userId: string } | { organisationId: string }

/** Values never reach the database: the store looks up by their keyed hash and keeps them sealed. */
export interface ApiKeyStore {
  /** A working or expired key; revoked ones are not found. */
  find(value: string, signal: AbortSignal): Promise<ApiKey | undefined>
  /** One row more than the page has, when there are more; undefined when there is no such owner. */
  list(owner: KeyOwner, page: Page, signal: AbortSignal): Promise<ApiKey[] | undefined>
  /** `check` judges the grant in the transaction. Refuses with USER_NOT_FOUND. */
  create(key: NewApiKey, value: string, check: (facts: GrantFacts) => void, call: Call): Promise<ApiKey>
  replace(value: string, newValue: string, signal: AbortSignal): Promise<ApiKey | undefined>
  /** `allowed` judges the key under its lock. False when there is none. */
  revoke(key: { value: string; within: Within }, allowed: (key: { userType: UserKind }) => void, signal: AbortSignal): Promise<boolean>
}

/** What the database knows of a wanted grant. */
export interface GrantFacts {
  userType: UserKind
  /** Of the wanted names, those that exist. */
  known: readonly { name: string; openToUsers: boolean }[]
}

export async function createApiKey(keys: ApiKeyStore, wanted: NewApiKey, call: Call): Promise<ApiKey> {
  onlySystem(call.principal)
  if (!isId(wanted.userId)) throw nothingThere('user', wanted.userId)
  const resources = [...new Set(wanted.resources)]
  const check = ({ userType, known }: GrantFacts) => {
    const input = inspection()
    input.note('application_name', textProblem(wanted.applicationName, { min: 1, max: 255 }))
    input.note('resources', grantProblem(resources, userType, known))
    input.note('expiry_date', expiryProblem(wanted.expireTime, Date.now()))
    input.check()
  }
  return keys.create({ ...wanted, resources }, makeKeyValue(), check, call)
}

/** Callers that are not system read the key that they call with, and learn nothing of any other. */
export async function getApiKey(keys: ApiKeyStore, value: string, { principal, signal }: Call): Promise<ApiKey> {
  noGuests(principal)
  const key = mayExist(value) ? await keys.find(value, signal) : undefined
  if (!isSystem(principal) && (principal.kind !== 'user' || key?.apiKeyId !== principal.keyId)) {
    throw new DomainError('forbidden', 'OWN_KEY_ONLY', 'you may read only the key that you call with')
  }
  if (!key) throw noSuchKey()
  return key
}

export async function listApiKeys(keys: ApiKeyStore, owner: KeyOwner | undefined, page: Page, { principal, signal }: Call) {
  onlySystem(principal)
  if (!owner) throw invalid([{ field: 'user_id', message: 'is required, or organisation_id' }])
  const [noun, id] = 'userId' in owner ? (['user', owner.userId] as const) : (['organisation', owner.organisationId] as const)
  const found = isId(id) ? await keys.list(owner, page, signal) : undefined
  if (!found) throw nothingThere(noun, id)
  return found
}

export async function regenerateApiKey(keys: ApiKeyStore, value: string, { principal, signal }: Call): Promise<ApiKey> {
  onlySystem(principal)
  const key = mayExist(value) ? await keys.replace(value, makeKeyValue(), signal) : undefined
  if (!key) throw noSuchKey()
  return key
}

export async function revokeApiKey(keys: ApiKeyStore, value: string, { principal, signal }: Call): Promise<void> {
  const within = onlySuperUsers(principal)
  const allowed = (key: { userType: UserKind }) => {
    if (within !== undefined && key.userType === 'system') throw systemOnly()
  }
  if (!mayExist(value) || !(await keys.revoke({ value, within }, allowed, signal))) throw noSuchKey()
}

/** Whether it may be a key at all; the look-up decides. */
function mayExist(value: string): boolean {
  return isKeyValue(value) || isConfiguredForm(value)
}

/** Without the value, which is a secret even when it is wrong by one character. */
function noSuchKey(): DomainError {
  return new DomainError('not_found', 'API_KEY_NOT_FOUND', 'no such API key')
}

function grantProblem(wanted: readonly string[], userType: UserKind, known: GrantFacts['known']): Problem {
  const levels = new Map(known.map(({ name, openToUsers }) => [name, openToUsers]))
  const unknown = wanted.filter((name) => !levels.has(name))
  const closed = userType === 'uploader' ? wanted.filter((name) => levels.get(name) === false) : []
  const problems = [
    ...(unknown.length > 0 ? [`must be of the access list, which has no ${named(unknown)}`] : []),
    ...(closed.length > 0 ? [`must be such that an uploader may hold, which is not so of ${named(closed)}`] : []),
  ]
  return problems.length > 0 ? problems.join('; ') : undefined
}

/** The first few, as far as they are names at all. */
function named(resources: readonly string[]): string {
  return resources
    .slice(0, 5)
    .map((name) => (isResourceName(name) ? name : JSON.stringify(name.toWellFormed().slice(0, 40))))
    .join(', ')
}

function expiryProblem(expireTime: Date | undefined, now: number): Problem {
  if (expireTime === undefined) return undefined
  const time = expireTime.getTime()
  if (Number.isNaN(time)) return 'must be a time'
  return time > now ? undefined : 'must be in the future'
}
