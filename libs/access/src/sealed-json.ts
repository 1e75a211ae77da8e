import { createSeal } from './seal.ts'

const BOUND = Buffer.from('idempotent answer')

/** JSON values as encrypted bytes, and back: answers that hold a secret are kept so. `purpose` as of a seal. */
export function sealedJson<T>(masterKey: string, purpose: string): { encode(value: T): Uint8Array; decode(bytes: Uint8Array): T } {
  const { seal, open } = createSeal(masterKey, purpose)
  return {
    encode: (value) => seal(Buffer.from(JSON.stringify(value)), BOUND),
    // Only `encode` wrote it.
    decode: (bytes) => JSON.parse(open(bytes, BOUND).toString('utf8')) as T,
  }
}
