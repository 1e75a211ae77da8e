import type { Codec } from '@vitascope/postgres'
import { type MasterKeys, sealedJson } from '@vitascope/security'

export const RESPONSE_PURPOSE = 'vitascope catalogue idempotent responses'

/** Returns a codec for stored responses that contain a secret. They are stored as encrypted JSON. */
export function sealedCodec<T>(keys: MasterKeys): Codec<T> {
  return sealedJson(keys, RESPONSE_PURPOSE)
}
