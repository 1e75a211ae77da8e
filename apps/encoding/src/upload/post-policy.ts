import { DomainError, invalid } from '@vitascope/errors'
import { isObjectName } from '@vitascope/storage'
import { ALGORITHM, formatCredential, isSignature, readCredential, type SigningKeys } from './policy-signature.ts'

/** Object that a form may store. */
export interface AdmittedPost {
  key: string
  contentType: string | undefined
  minBytes: number
  maxBytes: number
  status: 200 | 201 | 204
}

/** Fields that need no condition, as in object stores. */
const UNCONDITIONAL_FIELDS = /^(policy|x-amz-signature|file|x-ignore-.*)$/

const KEY_RULE =
  'must contain only letters, digits, dots, hyphens and underscores, and each part must begin with a lower-case letter or digit'

/**
 * Checks the fields of a form against its policy, as an object store does: the signature, the
 * expiry, a condition for every field, and a field for every condition. Field names are in lower
 * case. Throws if a check fails. The signature must be that of one of the keys.
 */
export function admitPost(
  fields: ReadonlyMap<string, string>,
  { bucket, keys }: { bucket: string; keys: readonly SigningKeys[] },
  now: Date,
): AdmittedPost {
  const [key, policy, signature] = ['key', 'policy', 'x-amz-signature'].map((name) => fields.get(name))
  const missing = Object.entries({ key, policy, 'x-amz-signature': signature }).filter(([, value]) => value === undefined)
  if (missing.length > 0) throw invalid(missing.map(([field]) => ({ field, message: 'is required and must precede the file' })))
  const { conditions } = readSignedPolicy(fields, keys, now)
  const range = { min: 0, max: 0 }
  const covered = new Set<string>()
  for (const condition of conditions) {
    const [operator, name, pattern] = describeCondition(condition)
    if (operator === 'content-length-range') {
      range.min = Number(name)
      range.max = Number(pattern)
      continue
    }
    covered.add(name)
    const value = name === 'bucket' ? (fields.get(name) ?? bucket) : fields.get(name)
    const isMet = value !== undefined && (operator === 'eq' ? value === pattern : operator === 'starts-with' && value.startsWith(pattern))
    if (!isMet) throw policyDenied(`the value of the field ${name} does not match the policy`)
  }
  const extra = [...fields.keys()].find((name) => !covered.has(name) && !UNCONDITIONAL_FIELDS.test(name))
  if (extra !== undefined) throw policyDenied(`the policy has no condition for the field ${extra.slice(0, 100)}`)
  if (!isObjectName(key ?? '')) {
    throw invalid([{ field: 'key', message: KEY_RULE }])
  }
  const status = Number(fields.get('success_action_status') ?? 204)
  return {
    key: key ?? '',
    contentType: fields.get('content-type'),
    minBytes: range.min,
    maxBytes: range.max,
    status: status === 200 || status === 201 ? status : 204,
  }
}

/**
 * Checks signature and expiry as soon as the required fields have arrived, and returns true from
 * then on. Throws `forbidden` POLICY_REFUSED if they are invalid.
 */
export function isPolicySigned(fields: ReadonlyMap<string, string>, { keys }: { keys: readonly SigningKeys[] }, now: Date): boolean {
  if (!SIGNATURE_FIELDS.every((name) => fields.has(name))) return false
  readSignedPolicy(fields, keys, now)
  return true
}

const SIGNATURE_FIELDS = ['policy', 'x-amz-signature', 'x-amz-credential', 'x-amz-algorithm']

function readSignedPolicy(fields: ReadonlyMap<string, string>, keys: readonly SigningKeys[], now: Date): SignedPolicy {
  const [policy = '', signature = '', credential = '', algorithm = ''] = SIGNATURE_FIELDS.map((name) => fields.get(name))
  const date = readCredential(credential)?.date
  const isSignedBy = (key: SigningKeys) =>
    date !== undefined && credential === formatCredential(key, date) && isSignature(signature, policy, key, date)
  if (algorithm !== ALGORITHM || !keys.some(isSignedBy)) throw policyDenied('the signature does not match the policy')
  const signed = JSON.parse(Buffer.from(policy, 'base64').toString()) as SignedPolicy
  if (!(Date.parse(signed.expiration) > now.getTime())) throw policyDenied('the policy has expired')
  return signed
}

interface SignedPolicy {
  expiration: string
  conditions: (Record<string, string> | [string, string | number, string | number])[]
}

/**
 * Returns operator, lower-case name and value. For a range they are operator, minimum and maximum.
 */
function describeCondition(condition: SignedPolicy['conditions'][number]): [string, string, string] {
  if (Array.isArray(condition)) {
    const [operator, name, value] = condition.map(String)
    return [operator ?? '', (name ?? '').replace(/^\$/, '').toLowerCase(), value ?? '']
  }
  const [name = '', value = ''] = Object.entries(condition)[0] ?? []
  return ['eq', name.toLowerCase(), String(value)]
}

function policyDenied(sentence: string): DomainError {
  return new DomainError('forbidden', 'POLICY_REFUSED', sentence)
}
