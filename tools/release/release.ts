import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { generate } from '../lib/generate.ts'
import { root } from '../lib/run-command.ts'
import { listChanges, renderNotes } from './changelog.ts'
import { type ChartOptions, packageChart, pushChart } from './chart.ts'
import { findMirrors, type Mirrors } from './debian.ts'
import { buildImages, type ReleaseImage } from './images.ts'
import { packPackages } from './packages.ts'
import { checkSource, type Source } from './preconditions.ts'
import { providePrograms } from './programs.ts'
import { buildProvenance } from './provenance.ts'
import { startRegistry } from './registry.ts'
import { createSigner, layoutFolder, type Signer, saveLayout } from './signing.ts'

export interface ReleaseOptions {
  version: string
  /** Folder of the release, which must be empty or missing. */
  out: string
  /** File with a private key of cosign. Without it, nothing is signed. */
  signKey: string | undefined
  /** Prefix of the names of images in the chart. */
  repository: string
  source: string | undefined
  icon: string | undefined
  builder: string
  mirrors: Mirrors | undefined
  report: (line: string) => void
}

/** Files of a release with fixed names. */
export const RELEASE_FILES = {
  checksums: 'SHA256SUMS',
  signature: 'SHA256SUMS.sigstore.json',
  publicKey: 'vitascope.pub',
  notes: 'RELEASE_NOTES.md',
  digests: 'digests.json',
} as const

/**
 * Builds a release of the checkout into `out`, and returns its commit. Throws before it writes anything if the checkout
 * cannot be released.
 */
export async function makeRelease(options: ReleaseOptions): Promise<string> {
  const { version, out, report } = options
  const source = await checkSource(root, version)
  if (existsSync(out) && readdirSync(out).length > 0) throw new Error(`--out ${out} is not empty: name a new folder`)
  report(`Vitascope ${version}, commit ${source.commit.slice(0, 12)}`)
  await buildRelease(options, source)
  return source.commit
}

/** Builds a release without checks of the checkout. */
export async function buildRelease(options: ReleaseOptions, commit: Source): Promise<void> {
  const { out, signKey, report } = options
  const programs = await providePrograms(report)
  await generate(report)
  mkdirSync(out, { recursive: true })
  const signer = signKey === undefined ? undefined : await createSigner(programs, signKey, join(out, RELEASE_FILES.publicKey))
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-release-'))
  const registry = await startRegistry(programs, join(folder, 'registry'))
  try {
    await buildArtefacts({ ...options, programs, folder, registry: registry.address, signer, commit })
  } finally {
    await registry.stop()
    rmSync(folder, { recursive: true })
  }
  await writeChecksums(out)
  await signer?.signFile(join(out, RELEASE_FILES.checksums), join(out, RELEASE_FILES.signature))
  report(signer === undefined ? 'not signed, because --sign-key is missing' : 'signed')
}

interface Build extends ReleaseOptions {
  programs: ChartOptions['programs']
  folder: string
  registry: string
  signer: Signer | undefined
  commit: Source
}

async function buildArtefacts(build: Build): Promise<void> {
  const { version, out, repository, source, report, programs, folder, registry, signer, commit } = build
  const started = new Date()
  for (const name of ['sbom', 'provenance']) mkdirSync(join(out, name), { recursive: true })
  const labels = {
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': commit.commit,
    'org.opencontainers.image.created': commit.time.toISOString(),
    ...(source !== undefined && { 'org.opencontainers.image.source': source }),
  }
  const mirrors = build.mirrors ?? (await findMirrors())
  const images = await buildImages({ programs, registry, folder, sboms: join(out, 'sbom'), version, mirrors, labels, report })
  report('chart …')
  const options: ChartOptions = {
    programs,
    folder,
    out: join(out, 'charts'),
    version,
    images,
    repository,
    changes: listChanges(commit.section),
    source,
    icon: build.icon,
    time: commit.time,
  }
  const chart = await pushChart(options, await packageChart(options), registry)
  report('packages of npm …')
  await packPackages(folder, join(out, 'packages'))
  for (const image of images) await finishImage(build, image, started)
  await signer?.signImage(`${registry}/chart@${chart}`, `${repository}/chart`)
  await saveLayout(programs, `${registry}/chart:${version}`, layoutFolder(out, 'chart'), version)
  const digests = { ...Object.fromEntries(images.map(({ name, digest }) => [name, digest])), chart }
  writeFileSync(join(out, RELEASE_FILES.digests), `${JSON.stringify(digests, null, 2)}\n`)
  writeFileSync(join(out, RELEASE_FILES.notes), renderNotes(commit.section, digests))
}

/** Signs an image, attests its provenance and bills of materials, and saves its layout. */
async function finishImage(build: Build, { name, digest, platforms }: ReleaseImage, started: Date): Promise<void> {
  const { version, out, source, builder, report, programs, registry, signer, commit } = build
  report(`${name}: signatures and layout …`)
  const statement = buildProvenance({ name, version, commit: commit.commit, source, builder, started, platforms })
  const provenance = join(out, 'provenance', `${name}.json`)
  writeFileSync(provenance, `${JSON.stringify(statement, null, 1)}\n`)
  if (signer !== undefined) {
    await signer.signImage(`${registry}/${name}@${digest}`, `${build.repository}/${name}`)
    await signer.attest(`${registry}/${name}@${digest}`, 'slsaprovenance1', provenance)
    for (const platform of platforms) {
      const reference = `${registry}/${name}@${platform.digest}`
      await signer.attest(reference, 'slsaprovenance1', provenance)
      await signer.attest(reference, 'cyclonedx', platform.sbom)
    }
  }
  await saveLayout(programs, `${registry}/${name}:${version}`, layoutFolder(out, name), version)
}

/** Writes the SHA-256 of every file of the release in the format of sha256sum. */
async function writeChecksums(out: string): Promise<void> {
  const files = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(out, join(entry.parentPath, entry.name)))
    .sort()
  const lines: string[] = []
  for (const file of files) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(out, file)), hash)
    lines.push(`${hash.digest('hex')}  ${file}`)
  }
  writeFileSync(join(out, RELEASE_FILES.checksums), `${lines.join('\n')}\n`)
}
