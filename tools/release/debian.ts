import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.ts'

/** The supported Debian release of the images. */
export const DEBIAN = 'trixie'
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Architectures of the images, with the names that Node and GNU use. */
export const ARCHITECTURES = {
  amd64: { node: 'x64', gnu: 'x86_64-linux-gnu' },
  arm64: { node: 'arm64', gnu: 'aarch64-linux-gnu' },
} as const
export type Architecture = keyof typeof ARCHITECTURES

/** Packages of both images. `sync` of coreutils completes backups. */
export const BASE_PACKAGES = ['libc6', 'libstdc++6', 'coreutils'] as const
/** Additional packages of the image with ffmpeg. The sandbox of ffmpeg uses util-linux, perl and a shell. */
export const MEDIA_PACKAGES = ['ffmpeg', 'perl-base', 'util-linux', 'dash', 'tini'] as const
/**
 * Dependencies that are omitted: drivers for displays and graphics cards, which libraries load on
 * demand, and configuration tools of packages, which do not run.
 */
export const OMITTED_PACKAGES: readonly string[] = [
  'debconf',
  'libgallium-dri',
  'libgl1-mesa-dri',
  'libglx-mesa0',
  'libllvm19',
  'libz3-4',
  'mesa-libgallium',
  'x11-common',
]
/** Documentation and translations, which no program needs. Copyright files remain. */
const OMITTED_PATHS = ['usr/share/man', 'usr/share/info', 'usr/share/locale', 'usr/share/lintian', 'usr/share/bug', 'usr/share/doc-base']

/** A downloaded package. */
export interface DebianPackage {
  name: string
  version: string
  architecture: string
  sha256: string
  file: string
}

/** The servers from which packages are downloaded. */
export interface Mirrors {
  main: string
  security: string
  /** True if the lists may be older than their period of validity, as those of a snapshot of the archive. */
  mayBeSnapshot: boolean
}

/**
 * Returns the Debian mirrors of this machine, from the lists of apt. Throws if the machine has none;
 * the options of the release then name them.
 */
export async function findMirrors(): Promise<Mirrors> {
  const targets = await run('apt-get', ['indextargets', '--format', '$(LABEL) $(REPO_URI)', 'Created-By: Packages'])
  const find = (label: string) =>
    targets
      .split('\n')
      .find((line) => line.startsWith(`${label} `))
      ?.slice(label.length + 1)
  const [main, security] = [find('Debian'), find('Debian-Security')]
  if (main === undefined || security === undefined)
    throw new Error('apt of this machine has no Debian mirrors: run "apt-get update", or set --mirror and --security-mirror')
  return { main, security, mayBeSnapshot: false }
}

/** apt with its own lists and archives, for packages of one architecture. */
export interface Apt {
  archives: string
  env: NodeJS.ProcessEnv
}

/**
 * Fetches the lists of packages of an architecture into `folder`, which also keeps downloads for the
 * next release. apt verifies the signatures of Debian. It needs no root rights, and changes nothing else
 * on the machine.
 */
export async function prepareApt(folder: string, architecture: Architecture, mirrors: Mirrors): Promise<Apt> {
  const archives = join(folder, 'archives')
  mkdirSync(join(folder, 'lists/partial'), { recursive: true })
  mkdirSync(join(archives, 'partial'), { recursive: true })
  writeFileSync(join(folder, 'status'), '')
  writeFileSync(join(folder, 'debian.sources'), renderSources(mirrors))
  writeFileSync(join(folder, 'apt.conf'), renderConfiguration(folder, architecture, mirrors))
  const env = { APT_CONFIG: join(folder, 'apt.conf') }
  await run('apt-get', ['update', '--quiet=2'], env)
  return { archives, env }
}

/**
 * Downloads packages with their dependencies, and base-files, which contains the folders of the root.
 * The dependencies of base-files are only for its scripts. Returns the packages in the order of their
 * names.
 */
export async function downloadPackages({ archives, env }: Apt, names: readonly string[]): Promise<DebianPackage[]> {
  const install = ['install', '--quiet=2', '--yes', ...names]
  const base = ['download', '--quiet=2', 'base-files']
  // An empty folder of archives, because apt lists only files that it has not downloaded.
  const missing = ['--print-uris', '-o', `Dir::Cache::archives=${join(archives, 'none')}`]
  const listed = `${await run('apt-get', [...install, ...missing], env)}\n${await run('apt-get', [...base, '--print-uris'], env)}`
  await run('apt-get', [...install, '--download-only'], env)
  await run('apt-get', base, env, archives)
  const files = [...listed.matchAll(/^'[^']+' (\S+)/gm)].map(([, file = '']) => file)
  const found: DebianPackage[] = []
  for (const file of files) found.push(await readPackage(join(archives, file)))
  return found.filter(({ name }) => !OMITTED_PACKAGES.includes(name)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function renderSources({ main, security }: Mirrors): string {
  const entry = (uri: string, suites: string) => `Types: deb\nURIs: ${uri}\nSuites: ${suites}\nComponents: main\nSigned-By: ${KEYRING}\n`
  return `${entry(main, `${DEBIAN} ${DEBIAN}-updates`)}\n${entry(security, `${DEBIAN}-security`)}`
}

/** Settings by which apt ignores the machine: its packages, sources and preferences. */
function renderConfiguration(folder: string, architecture: Architecture, { mayBeSnapshot }: Mirrors): string {
  const settings = {
    'APT::Architecture': architecture,
    'APT::Install-Recommends': 'false',
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
    'Acquire::Check-Valid-Until': String(!mayBeSnapshot),
    'Dir::State': folder,
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': folder,
    'Dir::Cache::archives': join(folder, 'archives'),
    'Dir::Etc::sourcelist': join(folder, 'debian.sources'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::parts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";`)
  return `#clear APT::Architectures;\nAPT::Architectures { "${architecture}"; };\n${lines.join('\n')}\n`
}

async function readPackage(file: string): Promise<DebianPackage> {
  const fields = await run('dpkg-deb', ['--field', file, 'Package', 'Version', 'Architecture'])
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(fields)?.[1] ?? ''
  return {
    name: field('Package'),
    version: field('Version'),
    architecture: field('Architecture'),
    sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
    file,
  }
}

/**
 * Unpacks packages into the folder of a layer, without their scripts. `var/lib/dpkg/status.d` contains
 * the description of each package, in the form that scanners read.
 */
export async function unpackPackages(packages: readonly DebianPackage[], folder: string, architecture: Architecture): Promise<void> {
  const status = join(folder, 'var/lib/dpkg/status.d')
  mkdirSync(status, { recursive: true })
  for (const { name, file } of packages) {
    await run('dpkg-deb', ['--extract', file, folder])
    writeFileSync(join(status, name), `${await run('dpkg-deb', ['--field', file])}\n`)
  }
  for (const path of OMITTED_PATHS) rmSync(join(folder, path), { recursive: true, force: true })
  await run('find', [join(folder, 'usr/share/doc'), '-mindepth', '2', '!', '-type', 'd', '!', '-name', 'copyright', '-delete'])
  linkAlternatives(join(folder, 'usr/lib', ARCHITECTURES[architecture].gnu))
}

/** Creates the links that the script of a package would create by update-alternatives. */
function linkAlternatives(libraries: string): void {
  for (const [folder, name] of [
    ['blas', 'libblas.so.3'],
    ['lapack', 'liblapack.so.3'],
  ] as const) {
    if (existsSync(join(libraries, folder, name))) symlinkSync(join(folder, name), join(libraries, name))
  }
}
