import { type FieldError, invalid, notFound, requireValid } from '@vitascope/errors'
import type { Call, Principal } from '@vitascope/grpc'
import { isSystem, requireAuthenticated, requireSystem } from '@vitascope/principal'
import { checkText, isId, isStorable } from '@vitascope/request'
import { type OrganisationScope, requireOwnOrganisation } from '../rules/caller.ts'

/** The changeable fields of a record. */
export interface ThirdPartyTokenDetails {
  organisationId: string
  serviceName: string
  calledBy: string
  username: string
  token: string
  authUrl: string
  /** A JSON object, or empty. */
  otherDataJson: string
  expireTime: Date | undefined
  /** Empty if the token belongs to no user. */
  userId: string
}

export interface ThirdPartyToken extends ThirdPartyTokenDetails {
  thirdPartyTokenId: string
  createTime: Date
  updateTime: Date
}

export const ATTRIBUTES = ['id', 'organisation_id', 'service_name', 'called_by', 'username', 'auth_url', 'user_id'] as const
export type Attribute = (typeof ATTRIBUTES)[number]

/** Secrets are stored encrypted. Deleted records are not returned. */
export interface ThirdPartyTokenStore {
  find(thirdPartyTokenId: string, signal: AbortSignal): Promise<ThirdPartyToken | undefined>
  /** Returns the newest record whose attribute equals the value. */
  findBy(attribute: Exclude<Attribute, 'id'>, value: string, signal: AbortSignal): Promise<ThirdPartyToken | undefined>
  /** Stores a record. Throws ORGANISATION_NOT_FOUND, and USER_NOT_FOUND if the user is not in the organisation. */
  create(details: ThirdPartyTokenDetails, call: Call): Promise<{ thirdPartyTokenId: string; createTime: Date }>
  /** Returns the update time, or undefined if there is no such record. Throws like `create`. */
  update(key: TokenKey, change: Partial<ThirdPartyTokenDetails>, signal: AbortSignal): Promise<Date | undefined>
  /** Deletes the secrets of a record. Returns the time of the deletion, or undefined if there is no such record. */
  delete(key: TokenKey, signal: AbortSignal): Promise<Date | undefined>
}

export interface TokenKey {
  thirdPartyTokenId: string
  scope: OrganisationScope
}

const NOUN = 'third party token'

/**
 * Returns the scope in which a caller may change records. System users may change all records, other
 * users only those of their organisation.
 */
function changeableScope(caller: Principal): OrganisationScope {
  requireAuthenticated(caller)
  return isSystem(caller) || caller.kind !== 'user' ? undefined : caller.organisationId
}

export async function getThirdPartyToken(tokens: ThirdPartyTokenStore, id: string, { principal, signal }: Call): Promise<ThirdPartyToken> {
  requireSystem(principal)
  const token = isId(id) ? await tokens.find(id, signal) : undefined
  if (!token) throw notFound(NOUN, id)
  return token
}

export async function findThirdPartyToken(
  tokens: ThirdPartyTokenStore,
  { attribute, value }: { attribute: Attribute | undefined; value: string },
  { principal, signal }: Call,
): Promise<ThirdPartyToken> {
  requireSystem(principal)
  if (attribute === undefined) throw invalid([{ field: 'attribute', message: `must be one of: ${ATTRIBUTES.join(', ')}` }])
  const token = isValidValue(attribute, value) ? await findByAttribute(tokens, attribute, value, signal) : undefined
  // The message omits the value, because it is arbitrary input.
  if (!token) throw notFound(NOUN, '')
  return token
}

function findByAttribute(tokens: ThirdPartyTokenStore, attribute: Attribute, value: string, signal: AbortSignal) {
  return attribute === 'id' ? tokens.find(value, signal) : tokens.findBy(attribute, value, signal)
}

function isValidValue(attribute: Attribute, value: string): boolean {
  if (attribute === 'id' || attribute === 'organisation_id' || attribute === 'user_id') return isId(value)
  return isStorable(value)
}

export async function createThirdPartyToken(tokens: ThirdPartyTokenStore, details: ThirdPartyTokenDetails, call: Call) {
  const scope = changeableScope(call.principal)
  if (details.organisationId !== '') requireOwnOrganisation(scope, details.organisationId)
  checkDetails(details)
  if (!isId(details.organisationId)) throw notFound('organisation', details.organisationId)
  return await tokens.create(details, call)
}

export async function updateThirdPartyToken(
  tokens: ThirdPartyTokenStore,
  { thirdPartyTokenId, change }: { thirdPartyTokenId: string; change: Partial<ThirdPartyTokenDetails> },
  { principal, signal }: Call,
): Promise<Date> {
  const scope = changeableScope(principal)
  if (change.organisationId) requireOwnOrganisation(scope, change.organisationId)
  checkDetails(change)
  if (change.organisationId !== undefined && !isId(change.organisationId)) throw notFound('organisation', change.organisationId)
  const updateTime = isId(thirdPartyTokenId) ? await tokens.update({ thirdPartyTokenId, scope: scope }, change, signal) : undefined
  if (!updateTime) throw notFound(NOUN, thirdPartyTokenId)
  return updateTime
}

export async function deleteThirdPartyToken(tokens: ThirdPartyTokenStore, id: string, { principal, signal }: Call): Promise<Date> {
  const scope = changeableScope(principal)
  const deleteTime = isId(id) ? await tokens.delete({ thirdPartyTokenId: id, scope: scope }, signal) : undefined
  if (!deleteTime) throw notFound(NOUN, id)
  return deleteTime
}

const MAX_OTHER_DATA_BYTES = 65_536

function checkDetails({ organisationId, otherDataJson, expireTime, userId, ...texts }: Partial<ThirdPartyTokenDetails>): void {
  requireValid([
    ...(organisationId === '' ? [{ field: 'organisation_id', message: 'is required' }] : []),
    ...TEXTS.flatMap(([field, key, max]) => checkText(field, texts[key] ?? '', { max })),
    ...(otherDataJson === undefined ? [] : checkJson('other_data_json', otherDataJson)),
    ...(expireTime !== undefined && Number.isNaN(expireTime.getTime()) ? [{ field: 'expire_time', message: 'must be a time' }] : []),
    ...(userId && !isId(userId) ? [{ field: 'user_id', message: 'must be an id' }] : []),
  ])
}

const TEXTS = [
  ['service_name', 'serviceName', 255],
  ['called_by', 'calledBy', 255],
  ['username', 'username', 255],
  ['token', 'token', 16_384],
  ['auth_url', 'authUrl', 2_048],
] as const

function checkJson(field: string, text: string): FieldError[] {
  if (Buffer.byteLength(text) > MAX_OTHER_DATA_BYTES) return [{ field, message: `must have at most ${MAX_OTHER_DATA_BYTES} bytes of JSON` }]
  return text === '' || isJsonObject(text) ? [] : [{ field, message: 'must be a JSON object' }]
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
