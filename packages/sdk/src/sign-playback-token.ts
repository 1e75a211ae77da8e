import { fromBase64, toBase64Url } from './base64.ts'
import { invalidArgument, VitascopeError } from './error.ts'

/** Kinds of files of a video. */
export type FileKind = 'page' | 'manifest' | 'segment' | 'mp4' | 'image' | 'caption' | 'slide' | 'download' | (string & {})

/** The private key of a playback key: PEM (PKCS #8), a JWK, or a `CryptoKey` that can sign. */
export type PrivateKey = string | JsonWebKey | CryptoKey

/** A playback key of your organisation with its private key, which the platform never has. */
export interface PlaybackKey {
  /** `key_id` of the playback key. */
  id: string
  privateKey: PrivateKey
}

/** What a token allows. */
export interface PlaybackTokenClaims {
  /** Id of the video. */
  videoId: string
  /** Seconds from now until the token expires. Default: 3,600. `expiresAt` excludes it. */
  expiresInSeconds?: number
  /** Time at which the token expires. */
  expiresAt?: Date
  /** Time from which the token is valid. Default: at once. */
  notBefore?: Date
  /** Domains of pages, at most 20, such as `*.example.com`. Default: every page. */
  domains?: string | readonly string[]
  /** IPv4 or IPv6 address of the viewer. */
  ip?: string
  /** Country of the viewer: a code of ISO 3166-1, such as `DE`. */
  country?: string
  /** Maximum height of renditions in pixels. */
  maxHeight?: number
  /** Maximum number of devices at the same time, 1 to 1,000. Requires `tokenId`. */
  maxSessions?: number
  /** Kinds of files. Default: all. */
  kinds?: readonly FileKind[]
  /** `jti`: 1 to 100 characters. A playback rule can revoke the token by it. */
  tokenId?: string
  /** Further claims for playback rules: texts or lists of texts. */
  claims?: Readonly<Record<string, string | readonly string[]>>
}

const DEFAULT_EXPIRY_SECONDS = 3_600
const MAX_TOKEN_CHARACTERS = 2_048
const MAX_DOMAINS = 20
const MAX_SESSIONS = 1_000
/** Claims that have options of their own. */
const RESERVED = new Set(['sub', 'exp', 'nbf', 'aud', 'ip', 'country', 'max_height', 'max_sessions', 'kinds', 'jti'])

interface Algorithm {
  alg: 'EdDSA' | 'ES256' | 'RS256'
  parameters: { name: string; namedCurve?: string; hash?: string }
}
const ED25519: Algorithm = { alg: 'EdDSA', parameters: { name: 'Ed25519' } }
const P256: Algorithm = { alg: 'ES256', parameters: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } }
const RSA: Algorithm = { alg: 'RS256', parameters: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } }
/** Object identifiers in the header of PKCS #8 (RFC 8410, RFC 5480, RFC 8017), as hexadecimal DER. */
const OBJECT_IDENTIFIERS: readonly [string, Algorithm][] = [
  ['06032b6570', ED25519],
  ['06082a8648ce3d030107', P256],
  ['06092a864886f70d010101', RSA],
]
/** The identifier is in the first bytes of a key. */
const HEADER_BYTES = 40

/**
 * Returns a token for a viewer of a video with a token requirement, signed on this machine. Append it as
 * `?token=` to the address of the playlist, of a file or of the player page. Supports Ed25519, P-256 and
 * RSA keys by WebCrypto, in Node.js and browsers. Never ship a private key to a browser of a viewer.
 *
 * Throws `invalid_argument` for a key that is not one of these, a claim out of its range, or a token of
 * more than 2,048 characters.
 */
export async function signPlaybackToken(key: PlaybackKey, claims: PlaybackTokenClaims): Promise<string> {
  const payload = toPayload(claims)
  const { algorithm, cryptoKey } = await importKey(key.privateKey)
  const unsigned = [{ alg: algorithm.alg, kid: key.id }, payload]
    .map((part) => toBase64Url(new TextEncoder().encode(JSON.stringify(part))))
    .join('.')
  const signature = await crypto.subtle.sign(algorithm.parameters, cryptoKey, new TextEncoder().encode(unsigned))
  const token = `${unsigned}.${toBase64Url(new Uint8Array(signature))}`
  if (token.length > MAX_TOKEN_CHARACTERS)
    throw invalidArgument(`A token has at most ${MAX_TOKEN_CHARACTERS} characters, this one has ${token.length}.`)
  return token
}

function toPayload(claims: PlaybackTokenClaims): Record<string, unknown> {
  const { videoId, expiresInSeconds, expiresAt, notBefore, domains, maxSessions, tokenId, claims: others = {} } = claims
  if (videoId === '') throw invalidArgument('videoId must not be empty.')
  if (expiresAt !== undefined && expiresInSeconds !== undefined) throw invalidArgument('expiresAt and expiresInSeconds exclude each other.')
  const exp = expiresAt ? toSeconds(expiresAt) : Math.floor(Date.now() / 1000 + (expiresInSeconds ?? DEFAULT_EXPIRY_SECONDS))
  if (!(exp > Date.now() / 1000)) throw invalidArgument('A token must expire in the future.')
  if (Array.isArray(domains) && (domains.length === 0 || domains.length > MAX_DOMAINS))
    throw invalidArgument(`domains has 1 to ${MAX_DOMAINS} values.`)
  if (maxSessions !== undefined && !(Number.isInteger(maxSessions) && maxSessions >= 1 && maxSessions <= MAX_SESSIONS)) {
    throw invalidArgument(`maxSessions must be a whole number from 1 to ${MAX_SESSIONS}.`)
  }
  if (maxSessions !== undefined && tokenId === undefined) throw invalidArgument('maxSessions requires tokenId.')
  const reserved = Object.keys(others).find((name) => RESERVED.has(name))
  if (reserved !== undefined) throw invalidArgument(`The claim ${reserved} has an option of its own.`)
  const all = {
    ...others,
    sub: videoId,
    exp,
    nbf: notBefore && toSeconds(notBefore),
    aud: domains,
    ip: claims.ip,
    country: claims.country,
    max_height: claims.maxHeight,
    max_sessions: maxSessions,
    kinds: claims.kinds,
    jti: tokenId,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}

async function importKey(key: PrivateKey): Promise<{ algorithm: Algorithm; cryptoKey: CryptoKey }> {
  if (isCryptoKey(key)) return { algorithm: requireAlgorithm(findByKey(key)), cryptoKey: key }
  try {
    if (typeof key !== 'string') {
      const algorithm = requireAlgorithm(findByJwk(key))
      return { algorithm, cryptoKey: await crypto.subtle.importKey('jwk', { kty: '', ...key }, algorithm.parameters, false, ['sign']) }
    }
    const bytes = readPem(key)
    const algorithm = requireAlgorithm(findByDer(bytes))
    return { algorithm, cryptoKey: await crypto.subtle.importKey('pkcs8', bytes, algorithm.parameters, false, ['sign']) }
  } catch (cause) {
    if (cause instanceof VitascopeError) throw cause
    throw new VitascopeError('The private key of the playback key cannot be read.', { code: 'invalid_argument', cause })
  }
}

/** The class does not exist on pages without https. */
function isCryptoKey(key: PrivateKey): key is CryptoKey {
  return typeof key === 'object' && 'algorithm' in key && 'usages' in key
}

function requireAlgorithm(algorithm: Algorithm | undefined): Algorithm {
  if (algorithm) return algorithm
  throw invalidArgument('The private key is not an Ed25519, P-256 or RSA key for signatures.')
}

function findByKey({ type, algorithm }: CryptoKey): Algorithm | undefined {
  if (type !== 'private') return undefined
  const { name, namedCurve, hash } = algorithm as { name: string; namedCurve?: string; hash?: { name: string } }
  return [ED25519, P256, RSA].find(
    ({ parameters }) =>
      parameters.name === name &&
      (name !== 'ECDSA' || namedCurve === 'P-256') &&
      (name !== RSA.parameters.name || hash?.name === 'SHA-256'),
  )
}

function findByJwk({ kty, crv }: JsonWebKey): Algorithm | undefined {
  if (kty === 'OKP' && crv === 'Ed25519') return ED25519
  if (kty === 'EC' && crv === 'P-256') return P256
  return kty === 'RSA' ? RSA : undefined
}

function findByDer(bytes: Uint8Array): Algorithm | undefined {
  const header = [...bytes.subarray(0, HEADER_BYTES)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return OBJECT_IDENTIFIERS.find(([identifier]) => header.includes(identifier))?.[1]
}

function readPem(text: string): Uint8Array<ArrayBuffer> {
  const base64 = /-----BEGIN PRIVATE KEY-----([\s\S]*?)-----END PRIVATE KEY-----/.exec(text)?.[1]
  const bytes = base64 === undefined ? undefined : fromBase64(base64.replace(/\s/g, ''))
  if (bytes) return bytes
  throw invalidArgument('The private key is not in the PEM form of PKCS #8 (BEGIN PRIVATE KEY).')
}
