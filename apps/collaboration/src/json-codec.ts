import type { Codec } from '@vitascope/postgres'

/** Keeps the answer of a write for its retries; T holds JSON values only. */
export function jsonCodec<T>(): Codec<T> {
  return {
    encode: (value) => Buffer.from(JSON.stringify(value)),
    // Only `encode` wrote it.
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString('utf8')) as T,
  }
}
