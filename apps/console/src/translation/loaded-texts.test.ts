import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const SOURCE = fileURLToPath(new URL('..', import.meta.url))

interface Module {
  /** Modules that are loaded with it. */
  imports: readonly string[]
  /** Modules that it loads later, by `import()`. */
  loads: readonly string[]
  /** First parts of the keys of its texts: `video` for `video.title`. */
  groups: readonly string[]
  /** Files with English texts that it adds. */
  adds: readonly string[]
}

const modules = new Map<string, Module>()
for (const name of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })) {
  if (!/\.tsx?$/.test(name) || /\.test\.ts$|^translation\/(english|german)\//.test(name)) continue
  const text = readFileSync(join(SOURCE, name), 'utf8')
  const find = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found)
  const resolve = (path: string) => join(dirname(name), path)
  modules.set(name, {
    imports: find(/^(?:import|\}) (?!type )[^'\n]*from '(\.[^']+)'/gm).map(resolve),
    loads: find(/import\('(\.[^']+)'\)/g).map(resolve),
    groups: [...find(/\bt\(['`](\w+)\./g), ...find(/valueLabel\('(\w+)/g), ...find(/\? '(\w+)\.\w+' : '/g)],
    adds: find(/^import \{ \w+Texts \} from '\.\.?\/(?:translation\/)?(english\/[^']+)'/gm),
  })
}

/** Returns a module and all modules that are loaded with it. */
function findLoaded(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name) || !modules.has(name)) return found
  found.add(name)
  for (const imported of modules.get(name)?.imports ?? []) findLoaded(imported, found)
  return found
}

const groupsOf = (file: string) =>
  [...readFileSync(join(SOURCE, 'translation', file), 'utf8').matchAll(/^ {2}(\w+): \{/gm)].map(([, group = '']) => group)
const parts = new Map(['main.tsx', ...[...modules.values()].flatMap(({ loads }) => loads)].map((name) => [name, [...findLoaded(name)]]))
const adds = (name: string, group: string) =>
  (parts.get(name) ?? []).some((loaded) => modules.get(loaded)?.adds.some((file) => groupsOf(file).includes(group)))

/** The router shows these pages in a frame, which is loaded first. */
const findFrame = (name: string) => (name.startsWith('system/') ? 'system/system-frame.tsx' : '')
/** Only the German translation has these. */
const WITHOUT_ENGLISH = new Set(['jobCodes'])

/** Whether the texts of a group are present when a part of the console is loaded, by itself or by all parts that load it. */
function hasTexts(name: string, group: string, visited: readonly string[] = []): boolean {
  if (WITHOUT_ENGLISH.has(group) || ['main.tsx', name, findFrame(name)].some((part) => adds(part, group))) return true
  const loaders = [...parts].filter(([, loaded]) => loaded.some((module) => modules.get(module)?.loads.includes(name)))
  const others = loaders.filter(([loader]) => !visited.includes(loader) && loader !== name)
  return others.length > 0 && others.every(([loader]) => hasTexts(loader, group, [...visited, name]))
}

test('each part of the console has the English texts that it shows', () => {
  expect(parts.size).toBeGreaterThan(30)
  const missing = [...parts].flatMap(([name, loaded]) => {
    const groups = new Set(loaded.flatMap((module) => modules.get(module)?.groups ?? []))
    return [...groups].filter((group) => !hasTexts(name, group)).map((group) => `${name}: ${group}`)
  })
  expect(missing).toEqual([])
})
