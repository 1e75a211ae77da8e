import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { DomainError } from '@vitascope/errors'

export type UserKind = 'uploader' | 'standard' | 'system'

/** Who calls, as the gateway found out from the key, or as a service says of itself. */
export type Principal =
  | { kind: 'guest' }
  | { kind: 'service'; service: string }
  | {
      kind: 'user'
      keyId: string
      userId: string
      /** The organisation that the key belongs to. */
      organisationId: string
      userType: UserKind
    }

/** A principal with the request that it came with. */
export interface SignedCall {
  principal: Principal
  requestId: string
}

const ISSUER = 'vitascope'
/** A signed principal outlives the longest deadline by little. */
const LIFETIME_SECONDS = 60
/** Clocks of two machines may differ by so much. */
const TOLERANCE_SECONDS = 30

export function principalKey(secret: string): Uint8Array {
  return new TextEncoder().encode(secret)
}

/** Nothing else is signed, and nothing else is taken: what a token says of its algorithm leads nobody astray. */
const HEADER = base64url(JSON.stringify({ alg: 'HS256' }))

/**
 * A JWT (HS256, 60 s) for the metadata of one call. Made at once, by `node:crypto`: the promises of WebCrypto go through its pool of threads, which costs
 * a call more than all the rest of it.
 */
export function signPrincipal(call: SignedCall, key: Uint8Array): string {
  const now = Math.floor(Date.now() / 1000)
  const claims = { principal: call.principal, request: call.requestId, iss: ISSUER, iat: now, exp: now + LIFETIME_SECONDS }
  const signed = `${HEADER}.${base64url(JSON.stringify(claims))}`
  return `${signed}.${signatureOf(signed, key).toString('base64url')}`
}

/** The principal of a token that this key signed and whose time is not over; throws on any other. */
export function verifyPrincipal(token: string, key: Uint8Array): SignedCall {
  const [header, body = '', signature = '', ...more] = token.split('.')
  if (header !== HEADER || more.length > 0) throw new Error('not a token of ours')
  const [is, should] = [Buffer.from(signature, 'base64url'), signatureOf(`${header}.${body}`, key)]
  if (is.length !== should.length || !timingSafeEqual(is, should)) throw new Error('the signature is not that of the key')
  // Only holders of the key write these claims, so their shape is ours.
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims
  const now = Date.now() / 1000
  if (claims.iss !== ISSUER) throw new Error('the token is of somebody else')
  if (!(now < claims.exp + TOLERANCE_SECONDS)) throw new Error('the time of the token is over')
  return { principal: claims.principal, requestId: String(claims.request) }
}

interface Claims {
  principal: Principal
  request: string
  iss: string
  exp: number
}

function signatureOf(signed: string, key: Uint8Array): Buffer {
  return createHmac('sha256', readyKey(key)).update(signed).digest()
}

/** A key is made ready once: that costs as much as signing. */
function readyKey(key: Uint8Array): KeyObject {
  const known = READY.get(key)
  if (known) return known
  const made = createSecretKey(key)
  READY.set(key, made)
  return made
}

const READY = new WeakMap<Uint8Array, KeyObject>()

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** Carries the signed principal where a service is called by plain HTTP. */
export const PRINCIPAL_HEADER = 'vitascope-principal'

/** The principal of such a call; refuses one without, and one that this key did not sign. */
export function readPrincipalHeader(header: string | string[] | undefined, key: Uint8Array): SignedCall {
  if (typeof header !== 'string') throw new DomainError('unauthenticated', 'PRINCIPAL_MISSING', 'the call carries no signed principal')
  try {
    return verifyPrincipal(header, key)
  } catch (cause) {
    throw new DomainError('unauthenticated', 'PRINCIPAL_INVALID', 'the signed principal of the call is not valid', { cause })
  }
}
