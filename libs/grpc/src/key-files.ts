import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The private key that a process signs with. */
export interface SigningKey {
  kid: string
  key: KeyObject
}

/** A public key and the service that signs with its private half. */
export interface VerificationKey {
  signer: string
  key: KeyObject
}

/** Each signer may have several keys at once, so that a key can be replaced without rejected calls. */
const MAX_KEYS_PER_SIGNER = 8
const PUBLIC_FILE = /^([a-z][a-z0-9-]{0,62})\.pub$/
const PEM_BLOCK = /-----BEGIN (PUBLIC KEY|CERTIFICATE)-----[^-]+-----END \1-----/g

/** Reads a PEM file with one Ed25519 private key (PKCS #8). Throws an error without any content of the file. */
export function readSigningKey(file: string): SigningKey {
  const key = parseKey('a private key in PEM', () => createPrivateKey(readFileSync(file)))
  requireEd25519(key)
  return { kid: computeKeyId(createPublicKey(key)), key }
}

/**
 * Reads the public keys of a folder by their key id. `NAME.pub` contains the keys of the service NAME: 1 to 8 PEM
 * blocks, each a public key (SPKI) or a certificate. Other files are skipped. Throws an error that names the file.
 */
export function readVerificationKeys(folder: string): Map<string, VerificationKey> {
  const keys = new Map<string, VerificationKey>()
  for (const name of readdirSync(folder).sort()) {
    const signer = PUBLIC_FILE.exec(name)?.[1]
    if (signer === undefined) continue
    for (const key of readPublicKeys(join(folder, name))) {
      const kid = computeKeyId(key)
      const existing = keys.get(kid)
      if (existing && existing.signer !== signer) throw new Error(`${name}: ${existing.signer}.pub contains the same key`)
      keys.set(kid, { signer, key })
    }
  }
  if (keys.size === 0) throw new Error(`${folder} contains no file NAME.pub`)
  return keys
}

function readPublicKeys(file: string): KeyObject[] {
  const blocks = readFileSync(file, 'latin1').match(PEM_BLOCK) ?? []
  if (blocks.length === 0 || blocks.length > MAX_KEYS_PER_SIGNER) {
    throw new Error(`${file} must contain 1 to ${MAX_KEYS_PER_SIGNER} public keys in PEM, not ${blocks.length}`)
  }
  return blocks.map((block) => {
    const key = parseKey(`a public key in PEM (${file})`, () => createPublicKey(block))
    requireEd25519(key)
    return key
  })
}

/** Returns the key that `read` reads. File system errors pass through; OpenSSL errors do not help an operator, so they are replaced. */
function parseKey<T>(expectedContent: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall !== undefined) throw cause
    throw new Error(`not ${expectedContent}`, { cause })
  }
}

function requireEd25519({ asymmetricKeyType: type }: KeyObject): void {
  if (type !== 'ed25519') throw new Error(`the key must be an Ed25519 key, not ${type}`)
}

/** Returns the JWK thumbprint (RFC 7638, SHA-256). */
function computeKeyId(publicKey: KeyObject): string {
  const { crv, kty, x } = publicKey.export({ format: 'jwk' })
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url')
}
