// node deploy/images/assemble.ts FOLDER: copies the files that the images run, without tests and
// tools, from a checkout with generated code. Afterwards, only node_modules is missing: run `npm
// install --omit=dev` in FOLDER.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The services; the web pages are already built. */
export const APPS = ['analytics', 'auth', 'catalogue', 'collaboration', 'delivery', 'encoding', 'gateway']
/** Commands that operators run. */
const COMMANDS = ['backup']
/** Libraries for tests only. */
const EXCLUDED_LIBS = ['testing']
const NOT_RUN = /[.]test[.]ts$|-suite[.]ts$/

export function assemble(root: string, folder: string): void {
  const libs = readdirSync(join(root, 'libs')).filter((name) => !EXCLUDED_LIBS.includes(name))
  const packages = [...[...APPS, ...COMMANDS].map((name) => `apps/${name}`), ...libs.map((name) => `libs/${name}`)]
  for (const path of packages) {
    mkdirSync(join(folder, path), { recursive: true })
    writeManifest(join(root, path), join(folder, path))
    for (const part of ['src', 'migrations']) copy(join(root, path, part), join(folder, path, part))
  }
  for (const site of ['apps/web/dist', 'apps/docs/dist', 'apps/console/dist']) copy(join(root, site), join(folder, site))
  for (const name of ['package-lock.json', '.npmrc', 'LICENSE']) copy(join(root, name), join(folder, name))
  writeManifest(root, folder)
}

/**
 * Writes the manifest with runtime dependencies. Optional dependencies of the root are omitted,
 * because they provide Node, PostgreSQL or ffmpeg for `npm start`.
 */
function writeManifest(from: string, to: string): void {
  const { devDependencies, optionalDependencies, scripts, ...manifest } = JSON.parse(
    readFileSync(join(from, 'package.json'), 'utf8'),
  ) as Record<string, unknown>
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

function copy(from: string, to: string): void {
  // A migration that two services share is a symbolic link, whose target may not exist here.
  if (existsSync(from)) cpSync(from, to, { recursive: true, dereference: true, filter: (path) => !NOT_RUN.test(path) })
}

const [, , folder] = process.argv
if (import.meta.main && folder !== undefined) assemble(join(import.meta.dirname, '../..'), folder)
