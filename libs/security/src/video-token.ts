import { invalid } from '@vitascope/errors'
import { errors, type JWTHeaderParameters, jwtVerify, SignJWT } from 'jose'
import { normaliseAddress } from './address.ts'
import type { TokenKeys } from './token-keys.ts'

/** Reason why a token is rejected. */
export type TokenRejection = 'malformed' | 'unknown_key' | 'bad_signature' | 'expired' | 'wrong_video' | 'wrong_address'

/**
 * A file that a token allows a viewer to save. `name` is its file name. `path` is below the URL of the video; `object` is
 * the key of another object of the storage.
 */
export type TokenDownload = { name: string } & ({ path: string; object?: never } | { object: string; path?: never })

/**
 * Result of a verification. `password` identifies the password that a token was issued for; it is absent for other
 * tokens. A token with `download` is valid for this file only.
 */
export type TokenCheck =
  | { allowed: true; expires: Date; password?: string; download?: TokenDownload }
  | { allowed: false; reason: TokenRejection }

const algorithm = 'HS256'
// Tokens of other types may be signed with the same keys. They are rejected because of their `typ`.
const type = 'video+jwt'
const MAX_TOKEN_LENGTH = 2_048
const TOKEN_PATTERN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.([A-Za-z0-9_-]{43})$/

/**
 * Signs a token for one video. The token expires at `expires`, rounded down to seconds. With `ip`, it is valid only for
 * requests from that address. With `download`, it is valid only for that file. `password` identifies the password that it
 * was issued for. The token consists of `[A-Za-z0-9_.-]`, so it can be a URL path segment. Throws `invalid` for an invalid
 * date or address.
 */
export async function signVideoToken(
  grant: { videoId: string; expires: Date; ip?: string; password?: string; download?: TokenDownload },
  [key]: TokenKeys,
): Promise<string> {
  const seconds = Math.floor(grant.expires.getTime() / 1000)
  if (!Number.isSafeInteger(seconds)) throw invalid([{ field: 'expires', message: 'must be a date' }])
  const ip = grant.ip === undefined ? undefined : normaliseAddress(grant.ip)
  if (grant.ip !== undefined && ip === undefined) throw invalid([{ field: 'ip', message: 'must be an IPv4 or IPv6 address' }])
  return new SignJWT({
    ...(ip !== undefined && { ip }),
    ...(grant.password !== undefined && { pwd: grant.password }),
    ...(grant.download && { dl: grant.download }),
  })
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
): Promise<TokenCheck> {
  if (!isCanonical(token)) return reject('malformed')
  try {
    const { payload } = await jwtVerify(token, (header) => findSecret(header, keys), {
      algorithms: [algorithm],
      typ: type,
      requiredClaims: ['sub', 'exp'],
      currentDate: request.now,
    })
    if (payload.sub !== request.videoId) return reject('wrong_video')
    const { ip } = payload
    if (ip !== undefined && (typeof ip !== 'string' || ip !== normaliseAddress(request.address))) return reject('wrong_address')
    const password = typeof payload['pwd'] === 'string' ? payload['pwd'] : undefined
    // The platform signed the claim, so it has this form.
    const download = payload['dl'] as TokenDownload | undefined
    return {
      allowed: true,
      expires: new Date((payload.exp ?? 0) * 1000),
      ...(password !== undefined && { password }),
      ...(download && { download }),
    }
  } catch (error) {
    if (error instanceof errors.JWTExpired) return reject('expired')
    if (error instanceof errors.JWKSNoMatchingKey) return reject('unknown_key')
    if (error instanceof errors.JWSSignatureVerificationFailed) return reject('bad_signature')
    if (error instanceof errors.JOSEError) return reject('malformed')
    throw error
  }
}

/**
 * Returns whether the token has its only valid encoding. 43 base64url characters have 258 bits and a signature has 256,
 * so without this check three other strings would be accepted as the same token.
 */
function isCanonical(token: string): boolean {
  const signature = token.length > MAX_TOKEN_LENGTH ? undefined : TOKEN_PATTERN.exec(token)?.[1]
  return signature !== undefined && Buffer.from(signature, 'base64url').toString('base64url') === signature
}

function findSecret(header: JWTHeaderParameters, keys: TokenKeys) {
  const key = keys.find(({ kid }) => kid === header.kid)
  if (!key) throw new errors.JWKSNoMatchingKey()
  return key.secret
}

function reject(reason: TokenRejection): TokenCheck {
  return { allowed: false, reason }
}
