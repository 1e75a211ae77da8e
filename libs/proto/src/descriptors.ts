import { readFileSync } from 'node:fs'

/** Returns the descriptor set of all files under proto/, for the reflection service. */
export function readDescriptorSet(): Uint8Array {
  return readFileSync(new URL('./gen/descriptors.binpb', import.meta.url))
}
