import { Metadata } from '@grpc/grpc-js'
import { DomainError } from '@vitascope/errors'
import { TRACEPARENT } from '@vitascope/telemetry'
import type { Call, Idempotency } from './call.ts'
import type { Principal } from './principal.ts'
import {
  PRINCIPAL_HEADER,
  type PrincipalKeys,
  principalHeaders,
  REQUEST_ID_HEADER,
  requirePrincipal,
  toRequestId,
} from './principal-keys.ts'

const IDEMPOTENCY = 'vitascope-idempotency'
const EXPECTED_UPDATES = 'vitascope-expected-updates'

/** Returns the metadata of a call to the service `audience`. */
export async function writeMetadata(call: Call, keys: PrincipalKeys, audience: string): Promise<Metadata> {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(await principalHeaders(call, keys, audience))) metadata.set(name, value)
  if (call.idempotency) metadata.set(IDEMPOTENCY, `${call.idempotency.key}.${call.idempotency.fingerprint}`)
  if (call.expectedUpdateTimes) metadata.set(EXPECTED_UPDATES, call.expectedUpdateTimes.join(','))
  return metadata
}

/** Returns the principal of a call. Throws the same errors as `requirePrincipal`. */
export function readPrincipal(metadata: Metadata, keys: PrincipalKeys, callers: readonly string[] | undefined): Promise<Principal> {
  return requirePrincipal(metadata.get(PRINCIPAL_HEADER)[0]?.toString(), keys, callers)
}

export function readRequestId(metadata: Metadata): string {
  return toRequestId(metadata.get(REQUEST_ID_HEADER)[0]?.toString() ?? '')
}

/** Returns the trace of a call, to be read after its principal is verified. */
export function readTraceparent(metadata: Metadata): string | undefined {
  return metadata.get(TRACEPARENT)[0]?.toString()
}

export function readIdempotency(metadata: Metadata): { idempotency?: Idempotency } {
  const text = metadata.get(IDEMPOTENCY)[0]?.toString()
  const [, key, fingerprint] = /^([0-9a-f]{64})\.([0-9a-f]{64})$/.exec(text ?? '') ?? []
  if (text === undefined) return {}
  if (!key || !fingerprint) throw new DomainError('invalid', 'INVALID_IDEMPOTENCY', 'the idempotency metadata is malformed')
  return { idempotency: { key, fingerprint } }
}

export function readExpectedUpdates(metadata: Metadata): { expectedUpdateTimes?: readonly number[] } {
  const text = metadata.get(EXPECTED_UPDATES)[0]?.toString()
  if (text === undefined) return {}
  const times = text === '' ? [] : text.split(',').map(Number)
  if (!times.every(Number.isSafeInteger))
    throw new DomainError('invalid', 'INVALID_EXPECTED_UPDATES', 'the metadata of expected updates is malformed')
  return { expectedUpdateTimes: times }
}
