import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './lib/run-command.ts'

/** The parts of an entry of package-lock.json that this file reads or writes. */
export interface LockEntry {
  version?: string
  integrity?: string
  resolved?: string
  link?: boolean
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

export interface LockFile {
  packages: Record<string, LockEntry>
}

/**
 * Returns the lock file, in npm's order of keys. Adds an entry for each optional package of a
 * foreign platform that it lacks. npm omits such an entry when the registry in use does not offer
 * the package, and `npm ci` then rejects the lock file. The added entries have no hash. They are
 * never installed on the supported platform, Linux with glibc.
 */
export function completeLock(lock: LockFile): LockFile {
  const packages = { ...lock.packages }
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isResolved(packages, path, name)) continue
      const { os, cpu, libc } = parsePlatform(name)
      packages[`node_modules/${name}`] = {
        version,
        cpu: [cpu],
        ...(entry.dev === true && { dev: true }),
        ...(libc !== undefined && { libc: [libc] }),
        optional: true,
        os: [os],
      }
    }
  }
  const names = Object.keys(packages).sort((a, b) => a.localeCompare(b, 'en'))
  return { ...lock, packages: Object.fromEntries(names.map((name) => [name, packages[name] ?? {}])) }
}

/**
 * Resolves a package as Node does: in the folder of the dependent package and in each folder above
 * it.
 */
function isResolved(packages: LockFile['packages'], path: string, name: string): boolean {
  for (let folder = path; ; folder = findParent(folder)) {
    if (packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`] !== undefined) return true
    if (folder === '') return false
  }
}

function findParent(folder: string): string {
  const end = folder.lastIndexOf('/node_modules/')
  if (end >= 0) return folder.slice(0, end)
  return ''
}

/** Returns the platform that the name of a package contains. Throws if it contains none. */
function parsePlatform(name: string): { os: string; cpu: string; libc: string | undefined } {
  const words = name.split(/[-/]/)
  const os = words.find((word) => SYSTEMS.has(word))
  const cpu = words.find((word) => PROCESSORS.has(word))
  if (os === undefined || cpu === undefined) throw new Error(`${name}: the name of this optional package does not contain its platform`)
  const libc = words.some((word) => word.includes('musl')) ? 'musl' : 'glibc'
  return { os, cpu: PROCESSORS.get(cpu) ?? cpu, libc: os === 'linux' ? libc : undefined }
}

const SYSTEMS = new Set(['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'])
const PROCESSORS = new Map([
  ['arm', 'arm'],
  ['arm64', 'arm64'],
  ['armv7', 'arm'],
  ['ia32', 'ia32'],
  ['loong64', 'loong64'],
  ['ppc64', 'ppc64'],
  ['riscv64', 'riscv64'],
  ['s390x', 's390x'],
  ['x64', 'x64'],
])

if (import.meta.main) {
  const file = join(root, 'package-lock.json')
  const lock = JSON.parse(readFileSync(file, 'utf8')) as LockFile
  writeFileSync(file, `${JSON.stringify(completeLock(lock), null, 2)}\n`)
}
