import { invalid } from '@vitascope/errors'
import { errors, type JWTHeaderParameters, jwtVerify, SignJWT } from 'jose'
import { normaliseAddress } from './address.ts'
import type { TokenKeys } from './token-keys.ts'

/** Reason why a token is rejected. */
export type TokenRefusal = 'malformed' | 'unknown_key' | 'bad_signature' | 'expired' | 'other_video' | 'other_address'

export type TokenVerdict = { allowed: true; expires: Date } | { allowed: false; reason: TokenRefusal }

const algorithm = 'HS256'
// Prevents that other types of tokens signed with the same keys are accepted for a video.
const type = 'video+jwt'
const maxTokenLength = 1024
const form = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.([A-Za-z0-9_-]{43})$/

/**
 * Signs a token for one video that is valid until `expires` (whole seconds, rounded down), and from the address `ip`
 * only if it is given. The token consists of `[A-Za-z0-9_.-]`, so it can be a URL path segment.
 */
export async function signVideoToken(grant: { videoId: string; expires: Date; ip?: string }, [key]: TokenKeys): Promise<string> {
  const seconds = Math.floor(grant.expires.getTime() / 1000)
  if (!Number.isSafeInteger(seconds)) throw invalid([{ field: 'expires', message: 'must be a date' }])
  const ip = grant.ip === undefined ? undefined : normaliseAddress(grant.ip)
  if (grant.ip !== undefined && ip === undefined) throw invalid([{ field: 'ip', message: 'must be an IPv4 or IPv6 address' }])
  return new SignJWT(ip === undefined ? {} : { ip })
    .setProtectedHeader({ alg: algorithm, typ: type, kid: key.kid })
    .setSubject(grant.videoId)
    .setExpirationTime(seconds)
    .sign(key.secret)
}

/** Verifies that a token allows this video for this address at this time. Never throws because of the token. */
export async function verifyVideoToken(
  token: string,
  request: { videoId: string; address: string; now: Date },
  keys: TokenKeys,
): Promise<TokenVerdict> {
  if (!isCanonical(token)) return refuse('malformed')
  try {
    const { payload } = await jwtVerify(token, (header) => secretOf(header, keys), {
      algorithms: [algorithm],
      typ: type,
      requiredClaims: ['sub', 'exp'],
      currentDate: request.now,
    })
    if (payload.sub !== request.videoId) return refuse('other_video')
    const { ip } = payload
    if (ip !== undefined && (typeof ip !== 'string' || ip !== normaliseAddress(request.address))) return refuse('other_address')
    return { allowed: true, expires: new Date((payload.exp ?? 0) * 1000) }
  } catch (error) {
    if (error instanceof errors.JWTExpired) return refuse('expired')
    if (error instanceof errors.JWKSNoMatchingKey) return refuse('unknown_key')
    if (error instanceof errors.JWSSignatureVerificationFailed) return refuse('bad_signature')
    if (error instanceof errors.JOSEError) return refuse('malformed')
    throw error
  }
}

/**
 * 43 base64url characters have 258 bits and a signature has 256. Without this check each token would have three other
 * valid spellings.
 */
function isCanonical(token: string): boolean {
  const signature = token.length > maxTokenLength ? undefined : form.exec(token)?.[1]
  return signature !== undefined && Buffer.from(signature, 'base64url').toString('base64url') === signature
}

function secretOf(header: JWTHeaderParameters, keys: TokenKeys) {
  const key = keys.find(({ kid }) => kid === header.kid)
  if (!key) throw new errors.JWKSNoMatchingKey()
  return key.secret
}

function refuse(reason: TokenRefusal): TokenVerdict {
  return { allowed: false, reason }
}
