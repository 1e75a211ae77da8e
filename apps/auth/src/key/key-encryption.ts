import { createHmac, timingSafeEqual } from 'node:crypto'
import { createKeyDerivation, createSeal, type MasterKeys, type Seal } from '@vitascope/security'

/** Encrypts key values, and computes the hashes by which keys are found. Both use the master keys. */
export interface KeyCipher extends Seal {
  /** Returns the lookup hash of a key value: the HMAC-SHA-256 under which the key is stored. */
  hash(value: string): Buffer
  /** Returns the lookup hashes of a value, one per master key. */
  lookups(value: string): Buffer[]
  /** Returns bytes that identify the master key used for encryption. */
  check(): Buffer
  /** Returns the identifying bytes of all master keys that can decrypt. */
  checks(): Buffer[]
}

export function createKeyCipher(keys: MasterKeys): KeyCipher {
  const [lookupKey, check] = [createKeyDerivation('vitascope auth key lookup'), createKeyDerivation('vitascope auth master key check')]
  const lookup = (value: string, masterKey: string) => createHmac('sha256', lookupKey(masterKey)).update(value).digest()
  return {
    ...createSeal(keys, 'vitascope auth key value'),
    hash: (value) => lookup(value, keys.current()[0].secret),
    lookups: (value) => keys.current().map(({ secret }) => lookup(value, secret)),
    check: () => check(keys.current()[0].secret),
    checks: () => keys.current().map(({ secret }) => check(secret)),
  }
}

/** Compares in constant time. */
export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
