import { deserialize, serialize } from 'node:v8'
import type { Codec } from '@vitascope/postgres'
import type { KeyCipher } from './key-encryption.ts'

/** Returns a codec for stored responses of writes. It supports plain values and dates. */
export function plainCodec<T>(): Codec<T> {
  return {
    encode: (value) => serialize(value),
    // Only `encode` writes these bytes, with the same type.
    decode: (bytes) => deserialize(bytes) as T,
  }
}

/** Returns a codec that encrypts. It is used for responses that contain a secret. */
export function sealedCodec<T>(cipher: KeyCipher): Codec<T> {
  const plain = plainCodec<T>()
  return {
    encode: (value) => cipher.seal(Buffer.from(plain.encode(value)), RESPONSE_BINDING),
    decode: (bytes) => plain.decode(cipher.open(Buffer.from(bytes), RESPONSE_BINDING)),
  }
}

/** The encrypted bytes are bound to this text, so that they cannot be used as another secret. */
const RESPONSE_BINDING = Buffer.from('idempotent response')
