import type { Call, Principal } from '@vitascope/grpc'
import { isSystem, noGuests, onlyOwnOrganisation, onlySystem, type Within } from '../caller.ts'
import { inspection, isId, isStorable, nothingThere, type Problem, textProblem } from '../input.ts'

/** What may be changed of a record. */
export interface ThirdPartyTokenDetails {
  organisationId: string
  serviceName: string
  calledBy: string
  username: string
  token: string
  authUrl: string
  /** A JSON object; empty for none. */
  otherDataJson: string
  expireTime: Date | undefined
  /** Empty for none. */
  userId: string
}

export interface ThirdPartyToken extends ThirdPartyTokenDetails {
  thirdPartyTokenId: string
  createTime: Date
  updateTime: Date
}

export const ATTRIBUTES = ['id', 'organisation_id', 'service_name', 'called_by', 'username', 'auth_url', 'user_id'] as const
export type Attribute = (typeof ATTRIBUTES)[number]

/** Secrets never reach the database in the clear. Deleted records are found by nothing. */
export interface ThirdPartyTokenStore {
  find(thirdPartyTokenId: string, signal: AbortSignal): Promise<ThirdPartyToken | undefined>
  /** The newest with exactly this value. */
  findBy(attribute: Exclude<Attribute, 'id'>, value: string, signal: AbortSignal): Promise<ThirdPartyToken | undefined>
  /** Refuses with ORGANISATION_NOT_FOUND, and with USER_NOT_FOUND for users of other organisations. */
  create(details: ThirdPartyTokenDetails, call: Call): Promise<{ thirdPartyTokenId: string; createTime: Date }>
  /** Answers the time of the change, undefined when there is none; refuses as `create` does. */
  update(key: TokenKey, change: Partial<ThirdPartyTokenDetails>, signal: AbortSignal): Promise<Date | undefined>
  delete(key: TokenKey, signal: AbortSignal): Promise<Date | undefined>
}

export interface TokenKey {
  thirdPartyTokenId: string
  within: Within
}

const NOUN = 'third party token'

/** The only place that says whose records a caller may change: system callers all, users those of their organisation. */
function changeableBy(caller: Principal): Within {
  noGuests(caller)
  return isSystem(caller) || caller.kind !== 'user' ? undefined : caller.organisationId
}

export async function getThirdPartyToken(tokens: ThirdPartyTokenStore, id: string, { principal, signal }: Call): Promise<ThirdPartyToken> {
  onlySystem(principal)
  const found = isId(id) ? await tokens.find(id, signal) : undefined
  if (!found) throw nothingThere(NOUN, id)
  return found
}

export async function findThirdPartyToken(
  tokens: ThirdPartyTokenStore,
  { attribute, value }: { attribute: Attribute | undefined; value: string },
  { principal, signal }: Call,
): Promise<ThirdPartyToken> {
  onlySystem(principal)
  const input = inspection()
  if (attribute === undefined) input.note('attribute', `must be one of: ${ATTRIBUTES.join(', ')}`)
  input.check()
  const found = attribute !== undefined && isPossible(attribute, value) ? await findIn(tokens, attribute, value, signal) : undefined
  // Without the value, which may be anything that a caller took for a name.
  if (!found) throw nothingThere(NOUN, '')
  return found
}

function findIn(tokens: ThirdPartyTokenStore, attribute: Attribute, value: string, signal: AbortSignal) {
  return attribute === 'id' ? tokens.find(value, signal) : tokens.findBy(attribute, value, signal)
}

function isPossible(attribute: Attribute, value: string): boolean {
  if (attribute === 'id' || attribute === 'organisation_id' || attribute === 'user_id') return isId(value)
  return isStorable(value)
}

export async function createThirdPartyToken(tokens: ThirdPartyTokenStore, details: ThirdPartyTokenDetails, call: Call) {
  const within = changeableBy(call.principal)
  if (details.organisationId !== '') onlyOwnOrganisation(within, details.organisationId)
  checkDetails(details)
  if (!isId(details.organisationId)) throw nothingThere('organisation', details.organisationId)
  return await tokens.create(details, call)
}

export async function updateThirdPartyToken(
  tokens: ThirdPartyTokenStore,
  { thirdPartyTokenId, change }: { thirdPartyTokenId: string; change: Partial<ThirdPartyTokenDetails> },
  { principal, signal }: Call,
): Promise<Date> {
  const within = changeableBy(principal)
  if (change.organisationId) onlyOwnOrganisation(within, change.organisationId)
  checkDetails(change)
  if (change.organisationId !== undefined && !isId(change.organisationId)) throw nothingThere('organisation', change.organisationId)
  const changed = isId(thirdPartyTokenId) ? await tokens.update({ thirdPartyTokenId, within }, change, signal) : undefined
  if (!changed) throw nothingThere(NOUN, thirdPartyTokenId)
  return changed
}

export async function deleteThirdPartyToken(tokens: ThirdPartyTokenStore, id: string, { principal, signal }: Call): Promise<Date> {
  const within = changeableBy(principal)
  const deleted = isId(id) ? await tokens.delete({ thirdPartyTokenId: id, within }, signal) : undefined
  if (!deleted) throw nothingThere(NOUN, id)
  return deleted
}

const MOST_OTHER_DATA = 65_536

function checkDetails(details: Partial<ThirdPartyTokenDetails>): void {
  const input = inspection()
  if (details.organisationId === '') input.note('organisation_id', 'is required')
  for (const [field, text, max] of [
    ['service_name', details.serviceName, 255],
    ['called_by', details.calledBy, 255],
    ['username', details.username, 255],
    ['token', details.token, 16_384],
    ['auth_url', details.authUrl, 2_048],
  ] as const) {
    if (text !== undefined) input.note(field, textProblem(text, { max }))
  }
  if (details.otherDataJson !== undefined) input.note('other_data_json', jsonProblem(details.otherDataJson))
  if (details.expireTime !== undefined && Number.isNaN(details.expireTime.getTime())) input.note('expire_time', 'must be a time')
  if (details.userId && !isId(details.userId)) input.note('user_id', 'must be an id')
  input.check()
}

function jsonProblem(text: string): Problem {
  if (Buffer.byteLength(text) > MOST_OTHER_DATA) return `must have at most ${MOST_OTHER_DATA} bytes of JSON`
  return text === '' || isJsonObject(text) ? undefined : 'must be a JSON object'
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
