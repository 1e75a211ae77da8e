// node deploy/images/assemble.ts FOLDER: what the images run, without tests and tools, from a checkout whose code has been generated.
// What it lacks then is node_modules: `npm install --omit=dev` there.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The services; the web pages are built. */
export const APPS = ['analytics', 'auth', 'catalogue', 'collaboration', 'delivery', 'encoding', 'gateway']
/** Of `npm start`, which is for one machine, a cluster needs what backs up and restores. */
const COMMANDS = ['standalone']
/** For tests alone. */
const LEFT_OUT = ['testing']
const NOT_RUN = /[.]test[.]ts$|-suite[.]ts$/

export function assemble(root: string, folder: string): void {
  const libs = readdirSync(join(root, 'libs')).filter((name) => !LEFT_OUT.includes(name))
  const packages = [...[...APPS, ...COMMANDS].map((name) => `apps/${name}`), ...libs.map((name) => `libs/${name}`)]
  for (const path of packages) {
    mkdirSync(join(folder, path), { recursive: true })
    writeManifest(join(root, path), join(folder, path))
    for (const part of ['src', 'migrations']) copy(join(root, path, part), join(folder, path, part))
  }
  copy(join(root, 'apps/web/dist'), join(folder, 'apps/web/dist'))
  for (const name of ['package-lock.json', '.npmrc', 'LICENSE']) copy(join(root, name), join(folder, name))
  writeManifest(root, folder)
}

/** What is used at run time; what is optional at the root serves `npm start` on machines that have no Node, PostgreSQL or ffmpeg. */
function writeManifest(from: string, to: string): void {
  const { devDependencies, optionalDependencies, scripts, ...manifest } = JSON.parse(
    readFileSync(join(from, 'package.json'), 'utf8'),
  ) as Record<string, unknown>
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

function copy(from: string, to: string): void {
  // A migration that two services share is a link into a folder that is not there then.
  if (existsSync(from)) cpSync(from, to, { recursive: true, dereference: true, filter: (path) => !NOT_RUN.test(path) })
}

const [, , folder] = process.argv
if (import.meta.main && folder !== undefined) assemble(join(import.meta.dirname, '../..'), folder)
