import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/run-command.ts'
import { DEBIAN } from './debian.ts'
import type { PlatformImage } from './images.ts'

export interface ProvenanceOptions {
  /** Name of the artefact, such as `server`. */
  name: string
  version: string
  commit: string
  /** URL of the repository, if it is public. */
  source: string | undefined
  /** URI of the machine or service that builds. */
  builder: string
  started: Date
  platforms: readonly PlatformImage[]
}

/**
 * Returns the predicate of a SLSA provenance (https://slsa.dev/spec/v1.1/provenance). It lists the
 * commit, the lock file, and each downloaded package with its digest.
 */
export function buildProvenance({ name, version, commit, source, builder, started, platforms }: ProvenanceOptions): object {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const packages = platforms.flatMap(({ debian, node }) => [
    ...debian.map((entry) => ({
      uri: `pkg:deb/debian/${encodeURIComponent(entry.name)}@${encodeURIComponent(entry.version)}?arch=${entry.architecture}&distro=${DEBIAN}`,
      digest: { sha256: entry.sha256 },
    })),
    { uri: `pkg:npm/${node.name}@${node.version}`, digest: { sha512: node.sha512 } },
  ])
  return {
    buildDefinition: {
      buildType: 'urn:vitascope:release:1',
      externalParameters: { artefact: name, version },
      internalParameters: { architectures: platforms.map(({ architecture }) => architecture) },
      resolvedDependencies: [
        { uri: source === undefined ? `urn:git:${commit}` : `git+${source}@${commit}`, digest: { gitCommit: commit } },
        { uri: 'package-lock.json', digest: { sha256: lock } },
        ...new Map(packages.map((entry) => [entry.uri, entry])).values(),
      ],
    },
    runDetails: {
      builder: { id: builder },
      metadata: { startedOn: formatTime(started), finishedOn: formatTime(new Date()) },
    },
  }
}

/** Returns a time in RFC 3339 with the zone `Z`, which the specification requires, and without fractions of a second. */
function formatTime(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z')
}
