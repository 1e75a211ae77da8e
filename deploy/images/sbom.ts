// node sbom.ts FOLDER > sbom.cdx.json: what an image is made of, as CycloneDX 1.6: the npm packages of FOLDER/node_modules, and the Debian packages
// of this system.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Component {
  type: 'library'
  'bom-ref': string
  name: string
  version: string
  purl: string
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

export function billOfMaterials(folder: string, dpkgStatus: string): unknown {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string; version: string }
  // npm writes down there what it has put into the folder.
  const installed = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>
  }
  const npm = Object.entries(installed.packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, entry]) => npmComponent(path, entry))
  const debian = existsSync(dpkgStatus) ? debianComponents(readFileSync(dpkgStatus, 'utf8')) : []
  const components = [...new Map([...npm, ...debian].map((component) => [component['bom-ref'], component])).values()]
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': 'vitascope', name: manifest.name, version: manifest.version } },
    components: components.sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
  }
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

function debianComponents(status: string): Component[] {
  return status.split('\n\n').flatMap((paragraph) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1]
    const [name, version, architecture] = [field('Package'), field('Version'), field('Architecture')]
    if (name === undefined || version === undefined || field('Status') !== 'install ok installed') return []
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`
    return [{ type: 'library' as const, 'bom-ref': purl, name, version, purl }]
  })
}

const [, , folder] = process.argv
if (import.meta.main && folder !== undefined) {
  process.stdout.write(`${JSON.stringify(billOfMaterials(folder, '/var/lib/dpkg/status'), null, 1)}\n`)
}
