import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Settings and layers of an image in an OCI layout. */
export interface LayoutImage {
  digest: string
  config: { Entrypoint: string[]; Cmd: string[]; User: string; Env: string[]; WorkingDir: string; Labels: Record<string, string> }
  /** Files of the layers, lowest first. */
  layers: string[]
}

interface Descriptor {
  digest: string
  mediaType: string
  platform?: { os: string; architecture: string }
  annotations?: Record<string, string>
}

/** Returns the image of each architecture of a tag. `folder` is the OCI layout. */
export function readLayout(folder: string, tag: string): Record<string, LayoutImage> {
  const blob = (digest: string) => join(folder, 'blobs', digest.replace(':', '/'))
  const read = <T>(file: string) => JSON.parse(readFileSync(file, 'utf8')) as T
  const { manifests } = read<{ manifests: Descriptor[] }>(join(folder, 'index.json'))
  const tagged = manifests.find(({ annotations }) => annotations?.['org.opencontainers.image.ref.name'] === tag)
  if (tagged === undefined) throw new Error(`${folder} has no tag ${tag}`)
  const index = read<{ manifests: Descriptor[] }>(blob(tagged.digest))
  return Object.fromEntries(
    index.manifests.map(({ digest, platform }) => {
      const manifest = read<{ config: Descriptor; layers: Descriptor[] }>(blob(digest))
      const { config } = read<Pick<LayoutImage, 'config'>>(blob(manifest.config.digest))
      return [`${platform?.os}/${platform?.architecture}`, { digest, config, layers: manifest.layers.map((layer) => blob(layer.digest)) }]
    }),
  )
}
