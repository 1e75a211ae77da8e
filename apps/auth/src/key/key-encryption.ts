import { createHmac, timingSafeEqual } from 'node:crypto'
import { createSeal, derivedKeys, type MasterKeys, type Seal } from '@vitascope/security'

/** The uses of the master key: finding a key by its value without storing the value, and encrypting values. */
export interface KeyCipher extends Seal {
  /** Returns the HMAC-SHA-256 of a key value, under which it is stored. */
  lookup(value: string): Buffer
  /** Returns the possible lookup hashes of a value, one per master key. */
  lookups(value: string): Buffer[]
  /** Returns bytes that identify the master key used for encryption. */
  check(): Buffer
  /** Returns the identifying bytes of all master keys that can decrypt. */
  checks(): Buffer[]
}

export function createKeyCipher(keys: MasterKeys): KeyCipher {
  const [lookupKey, check] = [derivedKeys('vitascope auth key lookup'), derivedKeys('vitascope auth master key check')]
  const lookup = (value: string, masterKey: string) => createHmac('sha256', lookupKey(masterKey)).update(value).digest()
  return {
    ...createSeal(keys, 'vitascope auth key value'),
    lookup: (value) => lookup(value, keys.current()[0].secret),
    lookups: (value) => keys.current().map(({ secret }) => lookup(value, secret)),
    check: () => check(keys.current()[0].secret),
    checks: () => keys.current().map(({ secret }) => check(secret)),
  }
}

export function sameBytes(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
