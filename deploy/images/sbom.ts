// node sbom.ts FOLDER > sbom.cdx.json: writes the bill of materials of an image as CycloneDX 1.6.
// It lists the npm packages of FOLDER/node_modules, the Debian packages of this system, and the
// Node that runs this program with its linked libraries.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Component {
  type: 'library' | 'platform'
  'bom-ref': string
  name: string
  version: string
  purl: string
  cpe?: string
  licenses?: { license: { name: string } }[]
  hashes?: { alg: 'SHA-512'; content: string }[]
}

interface LockEntry {
  name?: string
  version?: string
  license?: string
  integrity?: string
  link?: boolean
}

/**
 * Returns the bill of materials. `dpkgStatus` is the text of `readDebianStatus`. `versions` has the
 * format of `process.versions`.
 */
export function buildBillOfMaterials(folder: string, dpkgStatus: string, versions: Readonly<Record<string, string | undefined>>): unknown {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string; version: string }
  // npm writes the installed packages to this file.
  const installed = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>
  }
  const npm = Object.entries(installed.packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, entry]) => npmComponent(path, entry))
  const components = [
    ...new Map(
      [...npm, ...debianComponents(dpkgStatus), ...nodeComponents(versions)].map((component) => [component['bom-ref'], component]),
    ).values(),
  ]
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': 'vitascope', name: manifest.name, version: manifest.version } },
    components: components.sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
  }
}

/**
 * Returns the descriptions of the Debian packages below a root folder: of dpkg, or a file for each
 * package in images without dpkg.
 */
export function readDebianStatus(root: string): string {
  const folder = join(root, 'var/lib/dpkg/status.d')
  const files = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [join(root, 'var/lib/dpkg/status')]
  const texts = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8').trim())
  return texts.join('\n\n')
}

function npmComponent(path: string, { name, version = '', license, integrity }: LockEntry): Component {
  const called = name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const purl = `pkg:npm/${called.replace('@', '%40')}@${version}`
  const sha512 = /^sha512-(\S+)/.exec(integrity ?? '')?.[1]
  return {
    type: 'library',
    'bom-ref': purl,
    name: called,
    version,
    purl,
    ...(license !== undefined && { licenses: [{ license: { name: license } }] }),
    ...(sha512 !== undefined && { hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }] }),
  }
}

/** CPE names of Node and its bundled libraries in vulnerability databases. */
const NODE_CPES: Readonly<Record<string, string>> = {
  node: 'nodejs:node.js',
  openssl: 'openssl:openssl',
  uv: 'libuv:libuv',
  nghttp2: 'nghttp2:nghttp2',
  ares: 'c-ares:c-ares',
  brotli: 'google:brotli',
  zlib: 'zlib:zlib',
  zstd: 'facebook:zstandard',
  sqlite: 'sqlite:sqlite',
  icu: 'icu-project:international_components_for_unicode',
  llhttp: 'llhttp:llhttp',
  undici: 'nodejs:undici',
}

function nodeComponents(versions: Readonly<Record<string, string | undefined>>): Component[] {
  return Object.entries(NODE_CPES).flatMap(([name, cpe]) => {
    const version = versions[name]
    if (version === undefined) return []
    const purl = `pkg:generic/${name}@${version}`
    const type = name === 'node' ? ('platform' as const) : ('library' as const)
    return [{ type, 'bom-ref': purl, name, version, purl, cpe: `cpe:2.3:a:${cpe}:${version}:*:*:*:*:*:*:*` }]
  })
}

function debianComponents(status: string): Component[] {
  return status.split('\n\n').flatMap((paragraph) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1]
    const [name, version, architecture] = [field('Package'), field('Version'), field('Architecture')]
    // Files of images without dpkg have no status.
    const isInstalled = (field('Status') ?? 'install ok installed') === 'install ok installed'
    if (name === undefined || version === undefined || !isInstalled) return []
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`
    return [{ type: 'library' as const, 'bom-ref': purl, name, version, purl }]
  })
}

const [, , folder] = process.argv
if (import.meta.main && folder !== undefined) {
  process.stdout.write(`${JSON.stringify(buildBillOfMaterials(folder, readDebianStatus('/'), process.versions), null, 1)}\n`)
}
