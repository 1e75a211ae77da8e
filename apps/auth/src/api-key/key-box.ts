import { createHmac, timingSafeEqual } from 'node:crypto'
import { createSeal, deriveKey, type Seal } from '@vitascope/access'

/** What the master key is for: finding a value without storing it, and keeping it for those who may see it. */
export interface KeyBox extends Seal {
  /** HMAC-SHA-256 of a key's value. */
  lookup(value: string): Buffer
  /** Tells one master key from another. */
  readonly check: Buffer
}

export function createKeyBox(masterKey: string): KeyBox {
  const lookupKey = deriveKey(masterKey, 'vitascope auth key lookup')
  return {
    ...createSeal(masterKey, 'vitascope auth key value'),
    lookup: (value) => createHmac('sha256', lookupKey).update(value).digest(),
    check: deriveKey(masterKey, 'vitascope auth master key check'),
  }
}

export function sameBytes(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
