import { DomainError } from '@vitascope/errors'
import { jwtVerify, SignJWT } from 'jose'

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

export function principalKey(secret: string): Uint8Array {
  return new TextEncoder().encode(secret)
}

/** A JWT (HS256, 60 s) for the metadata of one call. */
export function signPrincipal(call: SignedCall, key: Uint8Array): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({ principal: call.principal, request: call.requestId })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ISSUER)
    .setIssuedAt(now)
    .setExpirationTime(now + LIFETIME_SECONDS)
    .sign(key)
}

/** The principal of a token that this key signed; throws on any other. */
export async function verifyPrincipal(token: string, key: Uint8Array): Promise<SignedCall> {
  const { payload } = await jwtVerify(token, key, { issuer: ISSUER, algorithms: ['HS256'], clockTolerance: 30 })
  // Only holders of the key write these two claims, so their shape is ours.
  return { principal: payload['principal'] as Principal, requestId: String(payload['request']) }
}

/** Carries the signed principal where a service is called by plain HTTP. */
export const PRINCIPAL_HEADER = 'vitascope-principal'

/** The principal of such a call; refuses one without, and one that this key did not sign. */
export async function readPrincipalHeader(header: string | string[] | undefined, key: Uint8Array): Promise<SignedCall> {
  if (typeof header !== 'string') throw new DomainError('unauthenticated', 'PRINCIPAL_MISSING', 'the call carries no signed principal')
  try {
    return await verifyPrincipal(header, key)
  } catch (cause) {
    throw new DomainError('unauthenticated', 'PRINCIPAL_INVALID', 'the signed principal of the call is not valid', { cause })
  }
}
