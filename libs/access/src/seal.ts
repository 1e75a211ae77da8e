import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Keeps values encrypted (AES-256-GCM: form, nonce, tag, text), each bound to what it belongs to. */
export interface Seal {
  seal(plain: Uint8Array, bound: Uint8Array): Buffer
  /** Throws when it was changed, was bound to something else, or was sealed with another key. */
  open(sealed: Uint8Array, bound: Uint8Array): Buffer
}

const FORM = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES

/** `purpose` tells one use of a master key from all others: what one sealed, no other opens. */
export function createSeal(masterKey: string, purpose: string): Seal {
  const key = deriveKey(masterKey, purpose)
  return {
    seal(plain, bound) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound)
      const text = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([Buffer.of(FORM), nonce, cipher.getAuthTag(), text])
    },
    open(sealed, bound) {
      if (sealed[0] !== FORM) throw new Error('a sealed value has an unknown form')
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + NONCE_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAAD(bound).setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES))
      return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()])
    },
  }
}

/** 32 bytes for one purpose (HKDF-SHA-256, RFC 5869). */
export function deriveKey(masterKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32))
}
