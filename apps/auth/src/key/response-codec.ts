import { deserialize, serialize } from 'node:v8'
import type { Codec } from '@vitascope/postgres'
import { RESPONSE_CONTEXT } from '@vitascope/security'
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
    encode: (value) => cipher.seal(Buffer.from(plain.encode(value)), RESPONSE_CONTEXT),
    decode: (bytes) => plain.decode(cipher.open(Buffer.from(bytes), RESPONSE_CONTEXT)),
  }
}
