import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Idempotency } from '@vitascope/grpc'
import { invalidField } from '../payload/field-errors.ts'
import type { Caller } from '../route/caller.ts'
import type { Target } from '../route/route-index.ts'
import type { Input } from './input.ts'

const HEADER = 'Idempotency-Key'

/**
 * Returns the hashes that services store for an `Idempotency-Key`. `key` is the hash of the caller,
 * the path with its parameters, and the value of the header. `fingerprint` is the hash of query and
 * payload. The hashes are keyed, because a request may contain a password that must not be guessable
 * from stored data. Returns undefined without the header, or if the method is not POST. Throws
 * `invalid` for a malformed header.
 */
export function readIdempotency(
  request: IncomingMessage,
  { route }: Target,
  { params, query, payload }: Input,
  { caller, address, hashKey }: { caller: Caller; address: string; hashKey: string },
): Idempotency | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined || request.method !== 'POST') return undefined
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key))
    throw invalidField(HEADER, 'must have 1 to 255 printable ASCII characters')
  const scope = caller.kind === 'user' ? `key ${caller.keyId}` : `address ${address}`
  const hash = (text: string) => createHmac('sha256', hashKey).update(`idempotency\0${text}`).digest('hex')
  return {
    key: hash([scope, route.paths[0] ?? '', stableJson(params), key].join('\0')),
    fingerprint: hash(stableJson([query, payload])),
  }
}

/** Returns the same text for equal values, whatever the order of their fields. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'bigint') return `${part}`
    if (part instanceof Set) return [...part]
    if (part instanceof Map) return sorted(Object.fromEntries(part))
    return typeof part === 'object' && part !== null && !Array.isArray(part) ? sorted(part) : part
  })
}

function sorted(part: object): object {
  return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
}
