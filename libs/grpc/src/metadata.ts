import { Metadata } from '@grpc/grpc-js'
import { DomainError } from '@vitascope/errors'
import type { Call, Idempotency } from './call.ts'
import { type SignedCall, signPrincipal, verifyPrincipal } from './principal.ts'

const PRINCIPAL = 'vitascope-principal'
const IDEMPOTENCY = 'vitascope-idempotency'

export function writeMetadata(call: Call, key: Uint8Array): Metadata {
  const metadata = new Metadata()
  metadata.set(PRINCIPAL, signPrincipal(call, key))
  if (call.idempotency) metadata.set(IDEMPOTENCY, `${call.idempotency.key}.${call.idempotency.fingerprint}`)
  return metadata
}

export function readMetadata(metadata: Metadata, key: Uint8Array): SignedCall & { idempotency?: Idempotency } {
  const token = metadata.get(PRINCIPAL)[0]?.toString()
  if (!token) throw new DomainError('unauthenticated', 'PRINCIPAL_MISSING', 'the call carries no signed principal')
  const idempotency = readIdempotency(metadata)
  return { ...verify(token, key), ...(idempotency && { idempotency }) }
}

function verify(token: string, key: Uint8Array): SignedCall {
  try {
    return verifyPrincipal(token, key)
  } catch (cause) {
    throw new DomainError('unauthenticated', 'PRINCIPAL_INVALID', 'the signed principal of the call is not valid', { cause })
  }
}

function readIdempotency(metadata: Metadata): Idempotency | undefined {
  const text = metadata.get(IDEMPOTENCY)[0]?.toString()
  const [, key, fingerprint] = /^([0-9a-f]{64})\.([0-9a-f]{64})$/.exec(text ?? '') ?? []
  if (text === undefined) return undefined
  if (!key || !fingerprint) throw new DomainError('invalid', 'INVALID_IDEMPOTENCY', 'the idempotency metadata is malformed')
  return { key, fingerprint }
}
