import { createHmac, timingSafeEqual } from 'node:crypto'
import { createKeyDerivation, createSeal, type MasterKeys, type Seal } from '@vitascope/security'

/** Encrypts key values, and computes the hashes by which keys are found. Both use the master keys. */
export interface KeyCipher extends Seal {
  /** Returns the hash under which a new key is stored: the HMAC-SHA-256 of its value with the current master key. */
  hash(value: string): Buffer
  /** Returns the hashes under which a key may be stored: one per master key, the current one first. */
  lookups(value: string): Buffer[]
  /** Returns bytes that identify the current master key, without revealing it. */
  check(): Buffer
  /** Returns the bytes of all configured master keys, the current one first. */
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

/** Compares in a time that does not depend on the contents. Returns false at once if the lengths differ. */
export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
