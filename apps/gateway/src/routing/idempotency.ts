import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Idempotency } from '@vitascope/grpc'
import type { Caller } from '../caller.ts'
import { badField } from '../payload/refusals.ts'
import type { Input } from './input.ts'
import type { Target } from './route-index.ts'

const HEADER = 'Idempotency-Key'

/**
 * The hashes that services keep of an `Idempotency-Key`: one of the scope that the key holds in (the caller and the path), one of what was
 * asked with it. They are keyed: what was asked may hold a password, which nobody may guess from what is stored. Undefined when there is none, or the verb is not POST.
 */
export function idempotencyOf(
  request: IncomingMessage,
  { route }: Target,
  { params, query, payload }: Input,
  { caller, address, secret }: { caller: Caller; address: string; secret: Uint8Array },
): Idempotency | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined || request.method !== 'POST') return undefined
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key)) throw badField(HEADER, 'must have 1 to 255 printable ASCII characters')
  const scope = caller.kind === 'user' ? `key ${caller.keyId}` : `address ${address}`
  const hash = (text: string) => createHmac('sha256', secret).update(`idempotency\0${text}`).digest('hex')
  return {
    key: hash([scope, route.paths[0] ?? '', canonicalJson(params), key].join('\0')),
    fingerprint: hash(canonicalJson([query, payload])),
  }
}

/** Equal for equal values, whatever the order of their fields. */
export function canonicalJson(value: unknown): string {
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
