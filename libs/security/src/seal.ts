import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { MasterKeys } from './master-keys.ts'

/**
 * Encrypts values (AES-256-GCM: format, key version, nonce, tag, ciphertext). Each value is bound to its context as
 * additional authenticated data.
 */
export interface Seal {
  seal(plaintext: Uint8Array, context: Uint8Array): Buffer
  /** Decrypts a value. Throws if it was changed, is bound to another context, or its key is missing. */
  open(sealed: Uint8Array, context: Uint8Array): Buffer
  /**
   * Returns the prefix of values that are encrypted with the current key. Values with another prefix use an older
   * key.
   */
  prefix(): Buffer
}

/** Format of values of key version 1, which do not contain the version. */
const UNVERSIONED = 1
const VERSIONED = 2
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Creates a seal. `purpose` separates the uses of a master key: a value sealed for one purpose cannot be opened for
 * another.
 */
export function createSeal(keys: MasterKeys, purpose: string): Seal {
  const deriveSealKey = createKeyDerivation(purpose)
  const prefix = () => encodeVersion(keys.current()[0].version)
  return {
    prefix,
    seal(plaintext, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const [{ version, secret }] = keys.current()
      const cipher = createCipheriv('aes-256-gcm', deriveSealKey(secret), nonce).setAAD(context)
      const text = Buffer.concat([cipher.update(plaintext), cipher.final()])
      return Buffer.concat([encodeVersion(version), nonce, cipher.getAuthTag(), text])
    },
    open(sealed, context) {
      const version = decodeVersion(sealed)
      const key = keys.current().find((candidate) => candidate.version === version)
      if (!key) throw new Error(`a value is sealed with version ${version} of the master key, which is missing`)
      const rest = sealed.subarray(encodeVersion(version).length)
      const decipher = createDecipheriv('aes-256-gcm', deriveSealKey(key.secret), rest.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(context).setAuthTag(rest.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(rest.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
    },
  }
}

function encodeVersion(version: number): Buffer {
  return version === 1 ? Buffer.of(UNVERSIONED) : Buffer.of(VERSIONED, version >> 8, version & 0xff)
}

function decodeVersion(sealed: Uint8Array): number {
  if (sealed[0] === UNVERSIONED) return 1
  const [format, high = 0, low = 0] = sealed
  if (format !== VERSIONED) throw new Error('a sealed value has an unknown format')
  return high * 256 + low
}

/** Returns a cached key derivation for one purpose, because deriving a key costs more than using it. */
export function createKeyDerivation(purpose: string): (masterKey: string) => Buffer {
  const derived = new Map<string, Buffer>()
  return (masterKey) => {
    const key = derived.get(masterKey) ?? deriveKey(masterKey, purpose)
    derived.set(masterKey, key)
    return key
  }
}

/** Derives 32 bytes for one purpose (HKDF-SHA-256, RFC 5869). */
export function deriveKey(masterKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32))
}
