import { createPublicKey, type KeyObject } from 'node:crypto'

/** Algorithms of tokens that organisations sign. */
export const TOKEN_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number]

/** A public key of an organisation, with which tokens for its videos are verified. */
export interface PlaybackKey {
  /** The `kid` in the header of its tokens. */
  keyId: string
  algorithm: TokenAlgorithm
  /** SPKI in PEM. */
  publicKey: string
}

const RSA_BITS = { min: 2_048, max: 4_096 }
const FORMATS = 'must be a public key in PEM (BEGIN PUBLIC KEY) or a JWK, for RS256, ES256 or EdDSA'

/**
 * Parses a public key in PEM or a JWK as JSON: RSA with 2,048 to 4,096 bits for RS256, P-256 for ES256, Ed25519 for
 * EdDSA. Returns a message for other texts, which contains nothing of the text: it may be a private key.
 */
export function parsePublicKey(text: string): (Omit<PlaybackKey, 'keyId'> & { error?: never }) | { error: string } {
  if (/PRIVATE KEY/.test(text) || isPrivateJwk(text))
    return { error: 'must be the public key: never send the private key, and replace it now' }
  const key = importKey(text)
  if (!key) return { error: FORMATS }
  const algorithm = findAlgorithm(key)
  if (!algorithm) return { error: describeUnusable(key) }
  return { algorithm, publicKey: key.export({ type: 'spki', format: 'pem' }).toString() }
}

export function isTokenAlgorithm(text: string): text is TokenAlgorithm {
  return (TOKEN_ALGORITHMS as readonly string[]).includes(text)
}

function importKey(text: string): KeyObject | undefined {
  try {
    const jwk = parseJwk(text)
    if (jwk) return createPublicKey({ key: jwk, format: 'jwk' })
    return /^\s*-----BEGIN (RSA )?PUBLIC KEY-----/.test(text) ? createPublicKey(text) : undefined
  } catch {
    return undefined
  }
}

function parseJwk(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  const jwk: unknown = JSON.parse(text)
  return typeof jwk === 'object' && jwk !== null ? { ...jwk } : undefined
}

function isPrivateJwk(text: string): boolean {
  try {
    const jwk = parseJwk(text)
    return jwk !== undefined && ('d' in jwk || 'k' in jwk)
  } catch {
    return false
  }
}

function findAlgorithm({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): TokenAlgorithm | undefined {
  const bits = details?.modulusLength ?? 0
  if (type === 'rsa') return bits >= RSA_BITS.min && bits <= RSA_BITS.max ? 'RS256' : undefined
  if (type === 'ec') return details?.namedCurve === 'prime256v1' ? 'ES256' : undefined
  return type === 'ed25519' ? 'EdDSA' : undefined
}

function describeUnusable({ asymmetricKeyType: type }: KeyObject): string {
  if (type === 'rsa') return `must have ${RSA_BITS.min} to ${RSA_BITS.max} bits`
  return type === 'ec' ? 'must be on the curve P-256' : FORMATS
}
