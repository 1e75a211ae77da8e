import { sealedJson } from '@vitascope/access'
import type { Codec } from '@vitascope/postgres'

/** Answers as JSON, encrypted under a key derived from the master key: for those that hold a secret. */
export function sealedCodec<T>(masterKey: string): Codec<T> {
  return sealedJson(masterKey, 'vitascope catalogue idempotent answers')
}
