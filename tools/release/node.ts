import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/run-command.ts'
import { ARCHITECTURES, type Architecture } from './debian.ts'
import { run } from './run.ts'

/** Node of the lock file, unpacked. */
export interface NodePackage {
  name: string
  version: string
  /** Hexadecimal SHA-512 of the package. */
  sha512: string
  folder: string
}

/** Downloads Node for an architecture into `folder`. Throws if its digest differs from the lock file. */
export async function fetchNode(folder: string, architecture: Architecture): Promise<NodePackage> {
  const name = `node-linux-${ARCHITECTURES[architecture].node}`
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string } | undefined>
  }
  const entry = lock.packages[`node_modules/${name}`]
  if (entry === undefined) throw new Error(`package-lock.json has no ${name}`)
  mkdirSync(folder, { recursive: true })
  await run('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${entry.version}`])
  const [packed = ''] = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
  const hash = createHash('sha512')
    .update(readFileSync(join(folder, packed)))
    .digest()
  if (`sha512-${hash.toString('base64')}` !== entry.integrity) throw new Error(`${packed} has another digest than package-lock.json`)
  await run('tar', ['--extract', '--gzip', `--file=${join(folder, packed)}`, `--directory=${folder}`])
  return { name, version: entry.version, sha512: hash.toString('hex'), folder: join(folder, 'package') }
}

/** Copies the program and its license into the folder of a layer. */
export function copyNode({ folder }: NodePackage, layer: string): void {
  const documents = join(layer, 'usr/local/share/doc/node')
  mkdirSync(join(layer, 'usr/local/bin'), { recursive: true })
  mkdirSync(documents, { recursive: true })
  cpSync(join(folder, 'bin/node'), join(layer, 'usr/local/bin/node'))
  cpSync(join(folder, 'LICENSE'), join(documents, 'LICENSE'))
}

/**
 * Returns the versions of Node and its linked libraries, by the program for this machine. Builds of
 * one version for other architectures have the same libraries.
 */
export async function readNodeVersions(expected: string): Promise<Record<string, string>> {
  const program = join(root, `node_modules/node-linux-${process.arch}/bin/node`)
  const versions = JSON.parse(await run(program, ['--print', 'JSON.stringify(process.versions)'])) as Record<string, string>
  if (versions['node'] !== expected) throw new Error(`node_modules has Node ${versions['node']} instead of ${expected}: run npm ci`)
  return versions
}
