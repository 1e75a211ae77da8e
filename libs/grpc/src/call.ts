import type { Principal } from './principal.ts'

/** A hashed idempotency key and the hashed request that it was first used with. */
export interface Idempotency {
  /** SHA-256 in hex of caller, route and key. */
  key: string
  /** SHA-256 in hex of the parsed payload. */
  fingerprint: string
}

/** Context of a call. A handler passes it on to the services that it calls. */
export interface Call {
  principal: Principal
  requestId: string
  /** Aborts when the caller cancels the call or its deadline has passed. */
  signal: AbortSignal
  /** Deadline of the call. In addition, each read has at most 2 s and each write at most 10 s. */
  deadline?: Date | undefined
  idempotency?: Idempotency | undefined
  /** Times of the last change in ms since 1970. A change applies only if its record has one of them. */
  expectedUpdateTimes?: readonly number[] | undefined
}

/** Returns the context of a call that a service makes on its own behalf. */
export function serviceCall(service: string, requestId: string, signal: AbortSignal = new AbortController().signal): Call {
  return { principal: { kind: 'service', service }, requestId, signal }
}
