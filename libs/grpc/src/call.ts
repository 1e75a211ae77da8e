import type { Principal } from './principal.ts'

/** A caller's idempotency key, hashed: the scope that it holds in, and what was asked with it. */
export interface Idempotency {
  /** SHA-256, hex, of caller, route and key. */
  key: string
  /** SHA-256, hex, of the parsed payload. */
  fingerprint: string
}

/** What goes along with every call, and what a handler passes on to the services it asks. */
export interface Call {
  principal: Principal
  requestId: string
  /** Aborts when the caller hangs up or the deadline is over. */
  signal: AbortSignal
  /** When the caller stops waiting; a read has 2 s and a write 10 s where nobody said otherwise. */
  deadline?: Date | undefined
  idempotency?: Idempotency | undefined
}

/** A call by a service on its own behalf. */
export function serviceCall(service: string, requestId: string, signal: AbortSignal = new AbortController().signal): Call {
  return { principal: { kind: 'service', service }, requestId, signal }
}
