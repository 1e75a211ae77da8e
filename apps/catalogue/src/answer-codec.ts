import { createSeal } from '@vitascope/access'
import { type Codec, jsonCodec } from '@vitascope/postgres'

/** Answers as JSON, encrypted under a key derived from the master key: for those that hold a secret. */
export function sealedCodec<T>(masterKey: string): Codec<T> {
  const { seal, open } = createSeal(masterKey, 'vitascope catalogue idempotent answers')
  const plain = jsonCodec<T>()
  return {
    encode: (value) => seal(plain.encode(value), ANSWER),
    decode: (bytes) => plain.decode(open(bytes, ANSWER)),
  }
}

const ANSWER = Buffer.from('idempotent answer')
