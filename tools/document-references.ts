import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './lib/run-command.ts'

/** Names that documents may refer to. */
interface KnownNames {
  scripts: ReadonlySet<string>
  settings: ReadonlySet<string>
  metrics: ReadonlySet<string>
  exists: (path: string) => boolean
}

const FOLDERS = 'apps|libs|packages|tools|test|e2e|docs|deploy|helm|bench|proto'
const PATH = new RegExp(`^(?:${FOLDERS})/[\\w./-]+$`)
const SERVICES = 'AUTH|CATALOGUE|ENCODING|COLLABORATION|ANALYTICS|DELIVERY|GATEWAY|WORKER'

/** Returns a line for each script, path, setting and metric in Markdown files that does not exist. The changelog may have old ones. */
export function documentReferenceProblems(): string[] {
  const files = git(['ls-files', '*.md', ':!CHANGELOG.md']).filter((file) => existsSync(join(root, file)))
  const known = readKnownNames()
  return files.flatMap((file) =>
    findUnknownReferences(read(file), { ...known, exists: (path) => known.exists(path) || known.exists(join(dirname(file), path)) }).map(
      (problem) => `${file}: ${problem}`,
    ),
  )
}

/** Returns a message for each unknown reference of a text. */
export function findUnknownReferences(text: string, known: KnownNames): string[] {
  const all = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))]
  const paths = [
    ...all(/\bnode ((?:apps|libs|tools)\/[\w./-]+)/g),
    ...all(/`([^`\n]+)`/g).flatMap((code) => code.split(/[\s,]+/).filter((part) => PATH.test(part) && !isPlaceholder(part))),
  ]
  return [
    ...all(/\bnpm run ([a-z][\w:-]*)/g).flatMap((name) => (known.scripts.has(name) ? [] : [`there is no script ${name}`])),
    ...paths.flatMap((path) => (known.exists(path.replace(/\/$/, '')) ? [] : [`there is no ${path}`])),
    ...all(/\b(VITASCOPE_[A-Z0-9_]*[A-Z0-9])\b(?!_?[*<{])/g).flatMap((name) =>
      isSetting(name, known) ? [] : [`there is no setting ${name}`],
    ),
    ...all(/\b(vitascope_[a-z_]*[a-z])\b(?!_?[*<])/g).flatMap((name) =>
      known.metrics.has(name) || known.metrics.has(withoutSeries(name)) ? [] : [`there is no metric ${name}`],
    ),
  ]
}

/** Returns the name of a histogram for the name of one of its series. */
function withoutSeries(name: string): string {
  return name.replace(/(?<=_seconds)_(bucket|sum|count)$/, '')
}

/** Returns whether the path contains a word in capitals, such as `RELEASE`, which is a placeholder for a name. */
function isPlaceholder(path: string): boolean {
  return /\b[A-Z]{3,}\b/.test(path.replace(/\.md$/, '').replace('README', ''))
}

function isSetting(name: string, { settings }: KnownNames): boolean {
  const family = name.replace(new RegExp(`^VITASCOPE_(?:${SERVICES})_`), 'VITASCOPE_<SERVICE>_')
  return [name, name.replace(/_FILE$/, ''), family, family.replace(/_FILE$/, '')].some((one) => settings.has(one))
}

function readKnownNames(): KnownNames {
  const names = (pattern: string, globs: readonly string[]) => git(['grep', '-hoE', pattern, '--', ...globs])
  return {
    scripts: new Set(Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts)),
    // Settings of tests, of the build and of compose are not in the reference.
    settings: new Set([...names('VITASCOPE_[A-Z0-9_<>]+', ['docs/reference/settings.md', '*.ts', '*.mjs', 'deploy'])]),
    metrics: new Set(names('vitascope_[a-z_]+', ['docs/reference/metrics.md'])),
    exists: (path) => existsSync(join(root, path)) || isIgnored(path),
  }
}

/** Returns whether git ignores the path, such as that of a generated folder. */
function isIgnored(path: string): boolean {
  return spawnSync('git', ['check-ignore', path, `${path}/`], { cwd: root }).status === 0
}

const read = (file: string) => readFileSync(join(root, file), 'utf8')

function git(args: readonly string[]): string[] {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\n')
    .filter(Boolean)
}
