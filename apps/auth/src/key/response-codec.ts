import { deserialize, serialize } from 'node:v8'
import type { Codec } from '@vitascope/postgres'
import type { KeyCipher } from './key-encryption.ts'

/** Codec for stored responses of writes. Supports plain values and dates. */
export function plainCodec<T>(): Codec<T> {
  return {
    encode: (value) => serialize(value),
    // Only `encode` writes these bytes, with the same type.
    decode: (bytes) => deserialize(bytes) as T,
  }
}

/** Like `plainCodec`, but encrypted, for responses that contain a secret. */
export function sealedCodec<T>(cipher: KeyCipher): Codec<T> {
  const plain = plainCodec<T>()
  return {
    encode: (value) => cipher.seal(Buffer.from(plain.encode(value)), ANSWER),
    decode: (bytes) => plain.decode(cipher.open(Buffer.from(bytes), ANSWER)),
  }
}

const ANSWER = Buffer.from('idempotent answer')
