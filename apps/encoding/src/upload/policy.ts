import { type FieldError, invalid } from '@vitascope/errors'
import { isObjectName } from '@vitascope/storage'
import { ALGORITHM, type Condition, formatCredential, type Policy, readCredential, type SigningKeys } from './policy-signature.ts'

/** An unvalidated condition. */
export interface RequestedCondition {
  operator: string
  name: string
  value: string
  max: string
}

export interface PolicyRules {
  bucket: string
  /** Prefix such as `uploads/ORGANISATION/`. */
  keyPrefix: string
  maxBytes: number
  keys: SigningKeys
}

const MAX_LIFETIME_MS = 24 * 3_600_000
const MAX_CONDITIONS = 50
const MAX_VALUE_LENGTH = 1_024
const BARE_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[A-Za-z0-9]{1,10}$/
const META = /^x-amz-meta-[a-z0-9-]{1,100}$/
/** Allowed values of fields. */
const ALLOWED_VALUES = new Map([
  ['acl', ['private']],
  ['success_action_status', ['200', '201', '204']],
  ['x-amz-algorithm', [ALGORITHM]],
])

/**
 * Returns the policy to sign. It allows an organisation to store one object of bounded size below
 * its own prefix, or under a random name, within a day, and nothing else. Throws with every invalid
 * condition at once.
 */
export function checkPolicy(
  { expiration, conditions: requested }: { expiration: string; conditions: readonly RequestedCondition[] },
  rules: PolicyRules,
  now: Date,
): Policy {
  const problems: FieldError[] = []
  const expires = checkExpiration(expiration, now, problems)
  if (requested.length > MAX_CONDITIONS) throw invalid([{ field: 'conditions', message: `must have at most ${MAX_CONDITIONS} items` }])
  const subjects = new Set<string>()
  const conditions = requested.flatMap((condition, index) => {
    const addProblem = (message: string) => {
      problems.push({ field: `conditions[${index}]`, message })
      return []
    }
    const subject = condition.operator === 'content-length-range' ? condition.operator : condition.name.toLowerCase()
    if (subjects.has(subject)) return addProblem(`repeats the condition for ${truncate(subject)}`)
    subjects.add(subject)
    const checked = checkCondition({ ...condition, name: subject }, rules, now)
    return typeof checked === 'string' ? addProblem(checked) : [checked]
  })
  for (const [subject, message] of [
    ['bucket', `must include the bucket ${rules.bucket}`],
    ['key', `must include a key that starts with ${rules.keyPrefix}, or is a UUID with an extension`],
    ['content-length-range', 'must include a content-length-range'],
  ] as const) {
    if (!subjects.has(subject)) problems.push({ field: 'conditions', message })
  }
  if (problems.length > 0 || !expires) throw invalid(problems)
  const policy = { expires, conditions: [...conditions, ...missingConditions(subjects, rules.keys, conditions, now)] }
  const problem = findDateProblem(policy.conditions)
  if (problem !== undefined) throw invalid([{ field: 'conditions', message: problem }])
  return policy
}

/**
 * Returns the only key that the policy allows, or undefined if it allows any key below a prefix.
 */
export function exactKey({ conditions }: Policy): string | undefined {
  const key = conditions.find((condition) => condition.operator === 'eq' && condition.name === 'key')
  return key?.operator === 'eq' ? key.value : undefined
}

/** Returns the organisation of a key's prefix, or undefined for any other key. */
export function parseOrganisation(key: string): string | undefined {
  return /^uploads\/([1-9]\d{0,18})\/./.exec(key)?.[1]
}

export function formatKeyPrefix(organisationId: string): string {
  return `uploads/${organisationId}/`
}

function checkExpiration(expiration: string, now: Date, problems: FieldError[]): Date | undefined {
  const addProblem = (message: string) => {
    problems.push({ field: 'expiration', message })
    return undefined
  }
  const isWellFormed = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?Z?$/.test(expiration)
  const time = isWellFormed ? new Date(`${expiration.replace(' ', 'T').replace(/Z$/, '')}Z`) : undefined
  if (!time || Number.isNaN(time.getTime())) return addProblem('must be a time in UTC such as 2030-12-31T23:59:59.000Z')
  if (time <= now) return addProblem('must be in the future')
  if (time.getTime() - now.getTime() > MAX_LIFETIME_MS) return addProblem('must be at most 24 hours ahead')
  return time
}

/** Returns the condition, or an error message. */
function checkCondition(condition: RequestedCondition, rules: PolicyRules, now: Date): Condition | string {
  const { operator, name, value } = condition
  if (operator === 'content-length-range') return checkRange(condition, rules.maxBytes)
  if (operator !== 'eq' && operator !== 'starts-with')
    return 'must be an object with one field, or a list that starts with eq, starts-with or content-length-range'
  if (value.length > MAX_VALUE_LENGTH || /\p{Cc}/u.test(value) || !value.isWellFormed()) return 'has a value that a form field cannot have'
  if (value.includes('$'.concat('{'))) return 'must not contain a variable in braces, because the store would replace it'
  if (name === 'key') return checkKey(operator, value, rules.keyPrefix) ?? { operator, name, value }
  if (operator === 'starts-with') {
    if (name !== 'content-type' && !META.test(name)) return `${truncate(name)} must be matched exactly, not with starts-with`
    return value === '' ? 'must have a value that is not empty' : { operator, name, value }
  }
  if (name === 'bucket') return value === rules.bucket ? { operator, name, value } : `must name the bucket ${rules.bucket}`
  const allowed = ALLOWED_VALUES.get(name)
  if (allowed) return allowed.includes(value) ? { operator, name, value } : `must be ${allowed.join(' or ')}`
  if (name === 'x-amz-credential')
    return isOwnCredential(value, rules.keys, now) ? { operator, name, value } : 'is not the credential of this store'
  if (name === 'x-amz-date')
    return isCurrentTime(value, now) ? { operator, name, value } : 'must be the current time, such as 20301231T235959Z'
  if (name === 'content-type' || META.test(name)) return value === '' ? 'must not be empty' : { operator, name, value }
  return `${truncate(name)} is not an allowed form field`
}

function checkKey(operator: string, value: string, prefix: string): string | undefined {
  const message = `must begin with ${prefix} and continue with letters, digits, dots, hyphens and underscores, where each part begins with a lower-case letter or digit, or be a UUID in lower case with an extension`
  if (operator === 'starts-with') {
    return value === prefix || (value.startsWith(prefix) && isObjectName(`${value}x`)) ? undefined : message
  }
  if (BARE_UUID.test(value)) return undefined
  return value.startsWith(prefix) && isObjectName(value) ? undefined : message
}

function checkRange({ value, max: text }: RequestedCondition, maxBytes: number): Condition | string {
  const [min, max] = [value, text].map((limit) => (/^\d{1,15}$/.test(limit) ? Number(limit) : Number.NaN))
  const isRange = min !== undefined && max !== undefined && min <= max && max >= 1 && max <= maxBytes
  if (!isRange) return `must be a range of bytes between 0 and ${maxBytes}`
  return { operator: 'content-length-range', min, max }
}

function isOwnCredential(value: string, keys: SigningKeys, now: Date): boolean {
  const read = readCredential(value)
  return read !== undefined && isCurrentTime(`${read.date}T000000Z`, now) && value === formatCredential(keys, read.date)
}

/**
 * Returns true for a time within two days of now, which tolerates wrong clocks and any time zone.
 */
function isCurrentTime(text: string, now: Date): boolean {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? []
  if (year === undefined) return false
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Math.abs(time - now.getTime()) <= 2 * MAX_LIFETIME_MS
}

/** Returns the missing ones of the conditions that a store requires to check the signature. */
function missingConditions(subjects: ReadonlySet<string>, keys: SigningKeys, conditions: readonly Condition[], now: Date): Condition[] {
  const now8601 = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const timestamp = findValue(conditions, 'x-amz-date') ?? now8601
  const date = readCredential(findValue(conditions, 'x-amz-credential') ?? '')?.date
  const required = [
    ['x-amz-algorithm', ALGORITHM],
    ['x-amz-credential', formatCredential(keys, timestamp.slice(0, 8))],
    ['x-amz-date', date === undefined || date === timestamp.slice(0, 8) ? timestamp : `${date}T000000Z`],
  ] as const
  return required.flatMap(([name, value]) => (subjects.has(name) ? [] : [{ operator: 'eq' as const, name, value }]))
}

function findDateProblem(conditions: readonly Condition[]): string | undefined {
  const date = readCredential(findValue(conditions, 'x-amz-credential') ?? '')?.date
  return findValue(conditions, 'x-amz-date')?.slice(0, 8) === date ? undefined : 'x-amz-date must be on the day of x-amz-credential'
}

function findValue(conditions: readonly Condition[], name: string): string | undefined {
  const condition = conditions.find((one) => one.operator === 'eq' && one.name === name)
  return condition?.operator === 'eq' ? condition.value : undefined
}

function truncate(name: string): string {
  return name.slice(0, 100)
}
