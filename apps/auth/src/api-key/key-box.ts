import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** What the master key is for: finding a value without storing it, and keeping it for those who may see it. */
export interface KeyBox {
  /** HMAC-SHA-256 of a key's value. */
  lookup(value: string): Buffer
  /** AES-256-GCM; opens only with the same `bound`. */
  seal(plain: Buffer, bound: Buffer): Buffer
  /** Throws when it was changed, was bound to something else, or is of another master key. */
  open(sealed: Buffer, bound: Buffer): Buffer
  /** Tells one master key from another. */
  readonly check: Buffer
}

const FORM = 1
const IV_BYTES = 12
const TAG_BYTES = 16

export function createKeyBox(masterKey: string): KeyBox {
  const lookupKey = derive(masterKey, 'vitascope auth key lookup')
  const sealKey = derive(masterKey, 'vitascope auth key value')
  return {
    lookup: (value) => createHmac('sha256', lookupKey).update(value).digest(),
    seal(plain, bound) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', sealKey, iv).setAAD(bound)
      const body = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([Buffer.of(FORM), iv, cipher.getAuthTag(), body])
    },
    open(sealed, bound) {
      if (sealed[0] !== FORM) throw new Error('a sealed value has an unknown form')
      const iv = sealed.subarray(1, 1 + IV_BYTES)
      const tag = sealed.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', sealKey, iv, { authTagLength: TAG_BYTES }).setAAD(bound).setAuthTag(tag)
      return Buffer.concat([decipher.update(sealed.subarray(1 + IV_BYTES + TAG_BYTES)), decipher.final()])
    },
    check: derive(masterKey, 'vitascope auth master key check'),
  }
}

export function sameBytes(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

function derive(masterKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32))
}
