import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { releasedVersions } from './changelog.ts'

/** A version of a release, such as `1.4.0` or `2.0.0-rc.1`, without build metadata. */
export const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$/

const CHART = 'helm/vitascope/Chart.yaml'
/** Documents with names of files or images that contain the version. */
const DOCUMENTS = [
  'packages/cli/README.md',
  'docs/tutorial/first-video-with-the-cli.md',
  'docs/tutorial/first-video-in-typescript.md',
  'docs/guides/use-the-sdk.md',
]

/** Returns the version of the project, which is the one in package.json. */
export function readVersion(root: string): string {
  return readManifest(join(root, 'package.json')).version
}

/**
 * Returns a line for each file whose version differs from package.json: manifests and the lock file,
 * Chart.yaml, the names of packages in documents, and the newest section of CHANGELOG.md.
 */
export function versionProblems(root: string): string[] {
  const version = readVersion(root)
  const found = [
    ...manifestPaths(root).flatMap((path) => manifestVersions(root, path)),
    ...lockVersions(root),
    ...chartVersions(root),
    ...DOCUMENTS.flatMap((path) => packageNames(readFileSync(join(root, path), 'utf8')).map((name) => ({ where: path, version: name }))),
    { where: 'CHANGELOG.md: the newest section', version: releasedVersions(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))[0] },
  ]
  const different = found.filter((entry) => entry.version !== version)
  return different.map(
    (entry) => `${entry.where} has version ${entry.version ?? 'none'}, and package.json has ${version}: npm run set-version -- VERSION`,
  )
}

/**
 * Writes the version to every file that contains it. In CHANGELOG.md, `Unreleased` becomes the section
 * of the version. Throws if the version is malformed, or if the changelog has neither section.
 */
export function setVersion(root: string, version: string): void {
  if (!VERSION.test(version)) throw new Error(`${version} is not a version such as 1.4.0 or 2.0.0-rc.1`)
  const old = readVersion(root)
  const edit = (path: string, change: (text: string) => string) => {
    const file = join(root, path)
    writeFileSync(file, change(readFileSync(file, 'utf8')))
  }
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  if (!releasedVersions(changelog).includes(version)) {
    if (!/^## Unreleased$/m.test(changelog))
      throw new Error(`CHANGELOG.md has neither a section "## Unreleased" nor "## ${version}": add one with the changes`)
    edit('CHANGELOG.md', (text) => text.replace(/^## Unreleased$/m, `## ${version}`))
  }
  for (const path of [...manifestPaths(root), 'package-lock.json']) edit(path, (text) => replaceOwnVersions(text, old, version))
  edit(CHART, (text) => text.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`))
  for (const path of DOCUMENTS) edit(path, (text) => text.replaceAll(PACKAGE_FILE, `$1${version}.tgz`))
}

/**
 * Replaces versions of the project's own packages, in manifests and in the lock file. Entries of the
 * lock file begin with a path below apps, libs, packages or e2e.
 */
function replaceOwnVersions(text: string, old: string, version: string): string {
  const manifest = JSON.parse(text) as Manifest & { packages?: Record<string, Manifest> }
  const entries = manifest.packages === undefined ? [manifest] : ownEntries(manifest.packages)
  if (manifest.version === old) manifest.version = version
  for (const entry of entries) {
    if (entry.version === old) entry.version = version
    for (const dependencies of dependencyLists(entry))
      for (const name of Object.keys(dependencies)) if (isOwn(name) && dependencies[name] === old) dependencies[name] = version
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

interface Manifest {
  name?: string
  version: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest
}

/** Paths of the manifests of the project and its workspaces. */
function manifestPaths(root: string): string[] {
  const workspaces = ['apps', 'libs', 'packages'].flatMap((kind) =>
    readdirSync(join(root, kind), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && readdirSync(join(root, kind, entry.name)).includes('package.json'))
      .map((entry) => `${kind}/${entry.name}/package.json`),
  )
  return ['package.json', 'e2e/package.json', ...workspaces]
}

function manifestVersions(root: string, path: string): { where: string; version: string }[] {
  const manifest = readManifest(join(root, path))
  return [{ where: path, version: manifest.version }, ...ownDependencies(path, manifest)]
}

function lockVersions(root: string): { where: string; version: string }[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { version: string; packages: Record<string, Manifest> }
  return [
    { where: 'package-lock.json', version: lock.version },
    ...ownEntries(lock.packages).flatMap((entry) => {
      const where = `package-lock.json: ${entry.name}`
      return [{ where, version: entry.version }, ...ownDependencies(where, entry)]
    }),
  ]
}

/** Returns the entries of the project's packages in a lock file, without the links to them. */
function ownEntries(packages: Record<string, Manifest>): Manifest[] {
  return Object.entries(packages)
    .filter(([path]) => !path.includes('node_modules/'))
    .map(([, entry]) => entry)
}

function ownDependencies(where: string, manifest: Manifest): { where: string; version: string }[] {
  return dependencyLists(manifest).flatMap((dependencies) =>
    Object.entries(dependencies)
      .filter(([name]) => isOwn(name))
      .map(([name, version]) => ({ where: `${where}: ${name}`, version })),
  )
}

function dependencyLists({ dependencies = {}, devDependencies = {} }: Manifest): Record<string, string>[] {
  return [dependencies, devDependencies]
}

function isOwn(name: string): boolean {
  return name.startsWith('@vitascope/') || name === 'vitascope-cli'
}

function chartVersions(root: string): { where: string; version: string }[] {
  const chart = parse(readFileSync(join(root, CHART), 'utf8')) as { version: string; appVersion: string }
  return [
    { where: `${CHART}: version`, version: chart.version },
    { where: `${CHART}: appVersion`, version: chart.appVersion },
  ]
}

const PACKAGE_FILE = /(vitascope-(?:cli|sdk|player)-)(\d[^\s`]*?)\.tgz/g

function packageNames(text: string): string[] {
  return [...text.matchAll(PACKAGE_FILE)].map(([, , version = '']) => version)
}
