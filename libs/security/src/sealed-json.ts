import type { MasterKeys } from './master-keys.ts'
import { createSeal } from './seal.ts'

/** Context that sealed responses are bound to. */
export const RESPONSE_CONTEXT = Buffer.from('idempotent response')

/**
 * Returns a codec of JSON values to encrypted bytes, for stored responses that contain a secret. `purpose` has the
 * same meaning as in `createSeal`.
 */
export function sealedJson<T>(keys: MasterKeys, purpose: string): { encode(value: T): Uint8Array; decode(bytes: Uint8Array): T } {
  const { seal, open } = createSeal(keys, purpose)
  return {
    encode: (value) => seal(Buffer.from(JSON.stringify(value)), RESPONSE_CONTEXT),
    // The bytes come from `encode` only.
    decode: (bytes) => JSON.parse(open(bytes, RESPONSE_CONTEXT).toString('utf8')) as T,
  }
}
