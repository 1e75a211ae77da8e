import type { Codec } from '@vitascope/postgres'
import { type MasterKeys, sealedJson } from '@vitascope/security'

export const RESPONSE_PURPOSE = 'vitascope catalogue idempotent responses'

/** Codec for stored responses that contain a secret: JSON, encrypted under a key derived from the master key. */
export function sealedCodec<T>(keys: MasterKeys): Codec<T> {
  return sealedJson(keys, RESPONSE_PURPOSE)
}
