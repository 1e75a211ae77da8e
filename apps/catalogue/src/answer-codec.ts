import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Codec } from '@vitascope/postgres'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Answers as JSON; T holds JSON values only. */
export function jsonCodec<T>(): Codec<T> {
  return {
    encode: (value) => Buffer.from(JSON.stringify(value)),
    // Only `encode` wrote it.
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString('utf8')) as T,
  }
}

/** The same, encrypted (AES-256-GCM: nonce, tag, text) under a key derived from the master key: for answers that hold a secret. */
export function sealedCodec<T>(masterKey: string): Codec<T> {
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', 'vitascope catalogue idempotent answers', 32))
  const plain = jsonCodec<T>()
  return {
    encode(value) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const sealed = Buffer.concat([cipher.update(plain.encode(value)), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
    },
    decode(bytes) {
      const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      cipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return plain.decode(Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]))
    },
  }
}
