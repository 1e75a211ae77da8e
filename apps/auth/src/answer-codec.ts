import { deserialize, serialize } from 'node:v8'
import type { Codec } from '@vitascope/postgres'
import type { KeyBox } from './api-key/key-box.ts'

/** Keeps the answer of a write for its retries; plain values and dates. */
export function plainCodec<T>(): Codec<T> {
  return {
    encode: (value) => serialize(value),
    // Only `encode` writes what is read here, under the same type.
    decode: (bytes) => deserialize(bytes) as T,
  }
}

/** The same for an answer that holds a secret. */
export function sealedCodec<T>(box: KeyBox): Codec<T> {
  const plain = plainCodec<T>()
  return {
    encode: (value) => box.seal(Buffer.from(plain.encode(value)), ANSWER),
    decode: (bytes) => plain.decode(box.open(Buffer.from(bytes), ANSWER)),
  }
}

const ANSWER = Buffer.from('idempotent answer')
