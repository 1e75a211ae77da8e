import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assemble } from '../../deploy/images/assemble.ts'
import { IMAGES, type ImageName, STATE_FOLDER, STATE_FOLDERS, USER, WORK_FOLDER } from '../../deploy/images/image-config.ts'
import { buildBillOfMaterials, readDebianStatus } from '../../deploy/images/sbom.ts'
import { root } from '../lib/run-command.ts'
import {
  ARCHITECTURES,
  type Architecture,
  BASE_PACKAGES,
  type DebianPackage,
  downloadPackages,
  MEDIA_PACKAGES,
  type Mirrors,
  prepareApt,
  unpackPackages,
} from './debian.ts'
import { READ_ONLY, writeLayer } from './layers.ts'
import { copyNode, fetchNode, type NodePackage, readNodeVersions } from './node.ts'
import type { Programs } from './programs.ts'
import { run } from './run.ts'

/** The image of one architecture in the registry. */
export interface PlatformImage {
  architecture: Architecture
  digest: string
  /** File with the bill of materials. */
  sbom: string
  debian: readonly DebianPackage[]
  node: NodePackage
}

/** An image of a release with the images of its architectures. */
export interface ReleaseImage {
  name: ImageName
  /** Digest of the index. */
  digest: string
  platforms: readonly PlatformImage[]
}

export interface ImageOptions {
  programs: Programs
  /** Address of the registry in which the images are assembled. */
  registry: string
  /** Folder of temporary files. */
  folder: string
  /** Folder of the bills of materials. */
  sboms: string
  version: string
  mirrors: Mirrors
  labels: Readonly<Record<string, string>>
  report: (line: string) => void
}

/** Builds the images for all architectures, and pushes them to the registry with the version as tag. */
export async function buildImages(options: ImageOptions): Promise<ReleaseImage[]> {
  const { folder, report } = options
  const shared = await writeSharedLayers(folder)
  const platforms: Record<ImageName, PlatformImage[]> = { server: [], encoding: [] }
  for (const architecture of Object.keys(ARCHITECTURES) as Architecture[]) {
    report(`${architecture}: Debian packages, Node and npm packages …`)
    const parts = await writePlatformLayers(options, architecture)
    for (const name of Object.keys(IMAGES) as ImageName[]) {
      report(`${architecture}: image ${name} …`)
      platforms[name].push(await buildImage(options, name, architecture, parts, shared))
    }
  }
  const images: ReleaseImage[] = []
  for (const name of Object.keys(IMAGES) as ImageName[])
    images.push({ name, digest: await pushIndex(options, name, platforms[name]), platforms: platforms[name] })
  return images
}

/** Layers that do not depend on the architecture: the program, and the folders of its data. */
async function writeSharedLayers(folder: string): Promise<{ app: string; state: string; assembled: string }> {
  const [app, state] = [join(folder, 'app'), join(folder, 'state')]
  const assembled = join(app, WORK_FOLDER)
  mkdirSync(assembled, { recursive: true })
  assemble(root, assembled)
  for (const name of STATE_FOLDERS) mkdirSync(join(state, STATE_FOLDER, name), { recursive: true })
  const layers = { app: join(folder, 'app.tar.gz'), state: join(folder, 'state.tar.gz') }
  await writeLayer(app, layers.app, { mode: READ_ONLY })
  await writeLayer(state, layers.state, { mode: READ_ONLY, owner: USER, entries: [STATE_FOLDER] })
  return { ...layers, assembled }
}

/** Layers of an architecture, and the content of the bills of materials. */
interface PlatformParts {
  layers: Record<'base' | 'media' | 'node' | 'packages', string>
  node: NodePackage
  debian: Record<ImageName, readonly DebianPackage[]>
  /** Descriptions of the Debian packages of each image. */
  status: Record<ImageName, string>
  /** Folder with package.json and node_modules. */
  installed: string
}

async function writePlatformLayers({ folder, mirrors }: ImageOptions, architecture: Architecture): Promise<PlatformParts> {
  const path = (name: string) => join(folder, architecture, name)
  const apt = await prepareApt(join(root, '.cache/vitascope/release', `debian-${architecture}`), architecture, mirrors)
  const base = await downloadPackages(apt, BASE_PACKAGES)
  const all = await downloadPackages(apt, [...BASE_PACKAGES, ...MEDIA_PACKAGES])
  const media = all.filter(({ name }) => !base.some((known) => known.name === name))
  await unpackPackages(base, path('base'), architecture)
  await unpackPackages(media, path('media'), architecture)
  writeAccounts(path('base'))
  const node = await fetchNode(path('node-package'), architecture)
  copyNode(node, path('node'))
  const installed = join(path('packages'), WORK_FOLDER)
  await installPackages(join(folder, 'app', WORK_FOLDER), installed, architecture)
  const layers = { base: path('base.tar.gz'), media: path('media.tar.gz'), node: path('node.tar.gz'), packages: path('packages.tar.gz') }
  await writeLayer(path('base'), layers.base)
  await writeLayer(path('media'), layers.media)
  await writeLayer(path('node'), layers.node, { mode: READ_ONLY })
  await writeLayer(path('packages'), layers.packages, { mode: READ_ONLY })
  const [baseStatus, mediaStatus] = [readDebianStatus(path('base')), readDebianStatus(path('media'))]
  return {
    layers,
    node,
    debian: { server: base, encoding: [...base, ...media] },
    status: { server: baseStatus, encoding: `${baseStatus}\n\n${mediaStatus}` },
    installed,
  }
}

/** Writes the files that scripts of Debian packages would create. */
function writeAccounts(folder: string): void {
  const write = (name: string, lines: readonly string[]) => writeFileSync(join(folder, 'etc', name), `${lines.join('\n')}\n`)
  const shell = '/usr/sbin/nologin'
  write('passwd', [
    `root:x:0:0:root:/root:${shell}`,
    `vitascope:x:${USER}:${USER}::/${STATE_FOLDER}:${shell}`,
    `nobody:x:65534:65534::/nonexistent:${shell}`,
  ])
  write('group', ['root:x:0:', `vitascope:x:${USER}:`, 'nogroup:x:65534:'])
  write('nsswitch.conf', ['passwd: files', 'group: files', 'hosts: files dns'])
}

/** Installs the runtime packages of the lock file for an architecture. Their scripts do not run. */
async function installPackages(assembled: string, folder: string, architecture: Architecture): Promise<void> {
  for (const file of readdirSync(assembled, { recursive: true, encoding: 'utf8' })) {
    if (!/^(package\.json|package-lock\.json|\.npmrc|(apps|libs)\/[^/]+\/package\.json)$/.test(file)) continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(assembled, file), join(folder, file))
  }
  const platform = ['--os=linux', '--libc=glibc', `--cpu=${ARCHITECTURES[architecture].node}`]
  await run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--loglevel=error', ...platform], {}, folder)
}

async function buildImage(
  { programs: { crane }, registry, folder, sboms, labels }: ImageOptions,
  name: ImageName,
  architecture: Architecture,
  { layers, node, debian, status, installed }: PlatformParts,
  shared: Awaited<ReturnType<typeof writeSharedLayers>>,
): Promise<PlatformImage> {
  const bill = buildBillOfMaterials(installed, status[name], await readNodeVersions(node.version))
  const sbom = join(sboms, `${name}-${architecture}.cdx.json`)
  writeFileSync(sbom, `${JSON.stringify(bill, null, 1)}\n`)
  const billLayer = join(folder, architecture, `sbom-${name}`)
  mkdirSync(billLayer, { recursive: true })
  cpSync(sbom, join(billLayer, 'sbom.cdx.json'))
  await writeLayer(billLayer, `${billLayer}.tar.gz`, { mode: READ_ONLY })
  const files = [
    layers.base,
    ...(name === 'encoding' ? [layers.media] : []),
    layers.node,
    layers.packages,
    shared.app,
    shared.state,
    `${billLayer}.tar.gz`,
  ]
  const reference = `${registry}/${name}:${architecture}`
  await run(crane, ['append', '--oci-empty-base', ...files.flatMap((file) => ['--new_layer', file]), '--new_tag', reference])
  const { title, description, entrypoint, command } = IMAGES[name]
  const texts = {
    'org.opencontainers.image.title': title,
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.licenses': 'Apache-2.0',
    ...labels,
  }
  const environment = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    NODE_ENV: 'production',
  }
  await run(crane, [
    'mutate',
    `--set-platform=linux/${architecture}`,
    `--user=${USER}:${USER}`,
    `--workdir=${WORK_FOLDER}`,
    `--entrypoint=${entrypoint.join(',')}`,
    `--cmd=${command.join(',')}`,
    ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...Object.entries(texts).flatMap(([key, value]) => ['--label', `"${key}=${value}"`, '--annotation', `"${key}=${value}"`]),
    `--tag=${reference}`,
    reference,
  ])
  return { architecture, digest: await run(crane, ['digest', reference]), sbom, debian: debian[name], node }
}

async function pushIndex({ programs: { crane }, registry, version }: ImageOptions, name: ImageName, platforms: readonly PlatformImage[]) {
  const reference = `${registry}/${name}:${version}`
  const manifests = platforms.flatMap(({ digest }) => ['--manifest', `${registry}/${name}@${digest}`])
  await run(crane, ['index', 'append', ...manifests, '--tag', reference])
  return run(crane, ['digest', reference])
}
