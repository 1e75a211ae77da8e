import { DomainError, invalid } from '@vitascope/errors'
import { isObjectName } from '@vitascope/storage'
import { ALGORITHM, credentialOf, isSignature, readCredential, type SigningKeys } from './policy-signature.ts'

/** What a form may put into the store. */
export interface AdmittedPost {
  key: string
  contentType: string | undefined
  leastBytes: number
  mostBytes: number
  status: 200 | 201 | 204
}

/** Fields that need no condition, as object stores have it. */
const FREE = /^(policy|x-amz-signature|file|x-ignore-.*)$/

/**
 * Checks the fields of a form against the policy that it brings, as an object store does: the signature, the end, every field by a
 * condition, every condition by a field. Names of fields are in lower case.
 */
export function admitPost(
  fields: ReadonlyMap<string, string>,
  { bucket, keys }: { bucket: string; keys: SigningKeys },
  now: Date,
): AdmittedPost {
  const [key, policy, signature] = ['key', 'policy', 'x-amz-signature'].map((name) => fields.get(name))
  const lacking = Object.entries({ key, policy, 'x-amz-signature': signature }).filter(([, value]) => value === undefined)
  if (lacking.length > 0) throw invalid(lacking.map(([field]) => ({ field, message: 'is required, in front of the file' })))
  const credential = fields.get('x-amz-credential') ?? ''
  const date = readCredential(credential)?.date
  const isOurs = date !== undefined && credential === credentialOf(keys, date) && fields.get('x-amz-algorithm') === ALGORITHM
  if (!isOurs || !isSignature(signature ?? '', policy ?? '', keys, date)) throw denied('the signature is not that of the policy')
  const { expiration, conditions } = JSON.parse(Buffer.from(policy ?? '', 'base64').toString()) as SignedPolicy
  if (!(Date.parse(expiration) > now.getTime())) throw denied('the policy has expired')
  const range = { least: 0, most: 0 }
  const covered = new Set<string>()
  for (const condition of conditions) {
    const [operator, name, value] = partsOf(condition)
    if (operator === 'content-length-range') {
      range.least = Number(name)
      range.most = Number(value)
      continue
    }
    covered.add(name)
    const given = name === 'bucket' ? (fields.get(name) ?? bucket) : fields.get(name)
    const isMet = given !== undefined && (operator === 'eq' ? given === value : operator === 'starts-with' && given.startsWith(value))
    if (!isMet) throw denied(`the policy does not let the field ${name} be so`)
  }
  const extra = [...fields.keys()].find((name) => !covered.has(name) && !FREE.test(name))
  if (extra !== undefined) throw denied(`the policy has no condition for the field ${extra.slice(0, 100)}`)
  if (!isObjectName(key ?? '')) {
    throw invalid([{ field: 'key', message: 'must have letters, digits, dots, hyphens and underscores only' }])
  }
  const status = Number(fields.get('success_action_status') ?? 204)
  return {
    key: key ?? '',
    contentType: fields.get('content-type'),
    leastBytes: range.least,
    mostBytes: range.most,
    status: status === 200 || status === 201 ? status : 204,
  }
}

interface SignedPolicy {
  expiration: string
  conditions: (Record<string, string> | [string, string | number, string | number])[]
}

/** Operator, name in lower case, value; of a range operator, least, most. */
function partsOf(condition: SignedPolicy['conditions'][number]): [string, string, string] {
  if (Array.isArray(condition)) {
    const [operator, name, value] = condition.map(String)
    return [operator ?? '', (name ?? '').replace(/^\$/, '').toLowerCase(), value ?? '']
  }
  const [name = '', value = ''] = Object.entries(condition)[0] ?? []
  return ['eq', name.toLowerCase(), String(value)]
}

function denied(sentence: string): DomainError {
  return new DomainError('forbidden', 'POLICY_REFUSED', sentence)
}
