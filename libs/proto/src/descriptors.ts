import { readFileSync } from 'node:fs'

/** The descriptor set of everything under proto/, as the reflection service hands it out. */
export function readDescriptorSet(): Uint8Array {
  return readFileSync(new URL('./gen/descriptors.binpb', import.meta.url))
}
