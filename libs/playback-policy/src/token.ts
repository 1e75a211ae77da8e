import { createPublicKey } from 'node:crypto'
import { normaliseAddress, type TokenDownload, type TokenKeys, verifyVideoToken } from '@vitascope/security'
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import { isCountryCode } from './country-codes.ts'
import type { TokenClaims, TokenRejection, VerifiedToken } from './decide.ts'
import { parseDomainPattern } from './domain.ts'
import type { PlaybackKey } from './public-key.ts'
import { PLAYBACK_KINDS, type PlaybackKind, RESTRICTING_CLAIMS, RULE_LIMITS } from './rules.ts'

export interface TokenRequest {
  videoId: string
  address: string
  now: Date
}

/** Keys that verify the tokens of a video. */
export interface VerifyingKeys {
  platform: TokenKeys
  /** Active keys of the organisation of the video. */
  organisation: readonly PlaybackKey[]
}

/**
 * `keyId` is the key of the organisation that signed the token; absent for tokens of the platform. `download` is the only
 * file that the token is valid for; absent for tokens that play videos.
 */
export type TokenVerification = VerifiedToken & { expires?: Date; keyId?: string; download?: TokenDownload }

/** A signature of RS256 has up to 683 characters. */
const MAX_LENGTH = 2_048
const PATTERN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/
/** The clocks of servers that sign tokens may be ahead by at most this time. */
const CLOCK_TOLERANCE_SECONDS = 30
const MAX_DOMAINS = 20
const MAX_SESSIONS = 1_000

/** Returns whether a text can be a token: three parts in base64url and at most 2,048 characters. */
export function isTokenText(text: string): boolean {
  return text.length <= MAX_LENGTH && PATTERN.test(text)
}

/** Verifies a token for a video, which the platform or its organisation has signed. */
export async function verifyToken(token: string, request: TokenRequest, keys: VerifyingKeys): Promise<TokenVerification> {
  const header = isTokenText(token) ? readHeader(token) : undefined
  if (!header) return reject('token_malformed')
  const key = keys.organisation.find(({ keyId }) => keyId === header.kid)
  // The algorithm belongs to the key. A token cannot choose to be verified with another one.
  if (key) return header.alg === key.algorithm ? await verifyWithKey(token, request, key) : reject('token_wrong_algorithm')
  return header.alg === 'HS256'
    ? await verifyOfPlatform(token, request, keys.platform)
    : reject(header.alg === 'none' ? 'token_wrong_algorithm' : 'token_unknown_key')
}

async function verifyOfPlatform(token: string, request: TokenRequest, keys: TokenKeys): Promise<TokenVerification> {
  const check = await verifyVideoToken(token, request, keys)
  if (check.allowed) {
    const { expires, password, download } = check
    const kinds = download && { kinds: new Set<PlaybackKind>(['download']) }
    return { claims: { custom: new Map(), isByPassword: password !== undefined, ...kinds }, expires, ...(download && { download }) }
  }
  const claims = { wrong_address: 'ip', wrong_video: 'sub', expired: 'exp' } as const
  const { reason } = check
  return reject(`token_${reason}`, reason in claims ? claims[reason as keyof typeof claims] : undefined)
}

async function verifyWithKey(
  token: string,
  { videoId, now }: TokenRequest,
  { keyId, algorithm, publicKey }: PlaybackKey,
): Promise<TokenVerification> {
  try {
    const { payload } = await jwtVerify(token, createPublicKey(publicKey), {
      algorithms: [algorithm],
      requiredClaims: ['sub', 'exp'],
      currentDate: now,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    })
    const expires = new Date((payload.exp ?? 0) * 1_000)
    // The tolerance is only for tokens that are not valid yet.
    if (expires <= now) return reject('token_expired', 'exp')
    if (payload.sub !== videoId) return reject('token_wrong_video', 'sub')
    const { claims, invalid } = readClaims(payload)
    return invalid === undefined ? { claims, expires, keyId } : reject('token_invalid_claim', invalid)
  } catch (error) {
    return toRejection(error)
  }
}

function toRejection(error: unknown): TokenVerification {
  if (error instanceof errors.JWTExpired) return reject('token_expired', 'exp')
  if (error instanceof errors.JWTClaimValidationFailed) {
    const isEarly = error.claim === 'nbf' && error.reason === 'check_failed'
    return isEarly ? reject('token_not_yet_valid', 'nbf') : reject('token_invalid_claim', error.claim)
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return reject('token_bad_signature')
  if (error instanceof errors.JOSEError) return reject('token_malformed')
  throw error
}

function readHeader(token: string): { alg: string; kid: string | undefined } | undefined {
  try {
    const { alg, kid } = decodeProtectedHeader(token)
    return typeof alg === 'string' ? { alg, kid: typeof kid === 'string' ? kid : undefined } : undefined
  } catch {
    return undefined
  }
}

/** Returns the restrictions of a token, or the name of the first claim that is not valid: it must never be ignored. */
function readClaims(payload: JWTPayload): { claims: TokenClaims; invalid?: string } {
  const invalid: string[] = []
  const read = <Value>(name: string, parse: (value: unknown) => Value | undefined): Value | undefined => {
    if (payload[name] === undefined) return undefined
    const value = parse(payload[name])
    if (value === undefined) invalid.push(name)
    return value
  }
  const domains = read('aud', (value) => parseList(value, MAX_DOMAINS, parseDomainPattern))
  const address = read('ip', (value) => (typeof value === 'string' ? normaliseAddress(value) : undefined))
  const country = read('country', (value) => (typeof value === 'string' && isCountryCode(value) ? value : undefined))
  const maxHeight = read('max_height', (value) => readCount(value, Number.MAX_SAFE_INTEGER))
  const maxSessions = read('max_sessions', (value) => readCount(value, MAX_SESSIONS))
  const kinds = read('kinds', (value) => parseList(value, PLAYBACK_KINDS.length, (kind) => PLAYBACK_KINDS.find((known) => known === kind)))
  const tokenId = read('jti', (value) =>
    typeof value === 'string' && value !== '' && value.length <= RULE_LIMITS.claimLength ? value : undefined,
  )
  // The sessions of a token are counted by its id.
  if (maxSessions !== undefined && payload.jti === undefined) invalid.push('jti')
  const claims: TokenClaims = {
    ...(domains && { domains }),
    ...(address !== undefined && { address }),
    ...(country !== undefined && { country }),
    ...(maxHeight !== undefined && { maxHeight }),
    ...(kinds && { kinds: new Set(kinds) }),
    ...(tokenId !== undefined && { tokenId }),
    ...(maxSessions !== undefined && { maxSessions }),
    custom: readCustomClaims(payload),
  }
  return { claims, ...(invalid[0] !== undefined && { invalid: invalid[0] }) }
}

function readCount(value: unknown, max: number): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= max ? Number(value) : undefined
}

/** Parses a text or a list of texts. Returns undefined if one of them is not valid, or for an empty list. */
function parseList<Value>(value: unknown, max: number, parse: (text: string) => Value | undefined): Value[] | undefined {
  const texts: unknown[] = Array.isArray(value) ? value : [value]
  if (texts.length === 0 || texts.length > max) return undefined
  const parsed = texts.flatMap((text) => (typeof text === 'string' ? (parse(text) ?? []) : []))
  return parsed.length === texts.length ? parsed : undefined
}

function readCustomClaims(payload: JWTPayload): TokenClaims['custom'] {
  const custom = Object.entries(payload).flatMap(([name, value]): [string, string[]][] => {
    if (RESTRICTING_CLAIMS.has(name)) return []
    const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string')
    return texts.length === 0 ? [] : [[name, texts.slice(0, RULE_LIMITS.values)]]
  })
  return new Map(custom)
}

function reject(code: TokenRejection['code'], claim?: string): TokenVerification {
  return { rejection: { code, ...(claim !== undefined && { claim }) } }
}
