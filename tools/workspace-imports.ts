import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, relative } from 'node:path'

interface Manifest {
  name?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** Packages that consist of test code. */
const ONLY_TESTS = new Set(['@vitascope/e2e', '@vitascope/testing'])

/**
 * Returns every package that a workspace imports without listing it in its package.json. Such an
 * import works only because of npm's hoisting, and Nx does not see it. Tests may also import the
 * development dependencies of the root, and `@vitascope/testing`. That library depends on libs
 * whose tests use it, so these cannot list it.
 */
export function findUnlistedImports(root: string): string[] {
  const shared = names(readManifest(root))
  const kinds = ['apps', 'libs', 'packages'].filter((kind) => existsSync(join(root, kind)))
  const folders = kinds.flatMap((kind) => readdirSync(join(root, kind)).map((name) => join(root, kind, name)))
  return [...folders, join(root, 'e2e')]
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .flatMap((folder) => findUnlistedOfFolder(folder, shared).map((problem) => relative(root, folder) + problem))
}

function findUnlistedOfFolder(folder: string, shared: Set<string>): string[] {
  const manifest = readManifest(folder)
  const dependencies = names(manifest).add(manifest.name ?? '')
  return sourceFiles(folder).flatMap((file) => {
    const isTest = /([.]test|-suite)[.]tsx?$|\/test\//.test(file) || ONLY_TESTS.has(manifest.name ?? '')
    const isBuild = /\/[^/]+[.]config[.]ts$/.test(file)
    return [...importedPackages(readFileSync(file, 'utf8'))]
      .filter((name) => !dependencies.has(name))
      .filter((name) => !(isTest && (shared.has(name) || name === '@vitascope/testing')) && !(isBuild && shared.has(name)))
      .map((name) => `${file.slice(folder.length)} imports ${name}, which its package.json does not list`)
  })
}

/**
 * Returns the packages that a module imports or re-exports, including dynamic imports of a literal.
 * Type imports count only for packages of this workspace.
 */
export function importedPackages(source: string): Set<string> {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const specifiers = [
    ...code.matchAll(/(?:^|[;}\s])(?:import|export)\s(?:[\w\s{},*$]*?\sfrom\s*)?['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]/g),
  ]
    .filter(([statement]) => !/^\s*(import|export)\s+type\s/.test(statement) || statement.includes('@vitascope/'))
    .map(([, from, dynamic]) => from ?? dynamic ?? '')
  return new Set(specifiers.filter(isPackage).map(toPackageName))
}

function isPackage(specifier: string): boolean {
  return !/^([./#]|node:|virtual:)/.test(specifier) && !builtinModules.includes(specifier)
}

function toPackageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Returns every TypeScript file and `.mjs` module of a folder, except generated and built ones. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ['node_modules', 'dist', 'gen', 'data'].includes(entry.name) ? [] : sourceFiles(path)
    return /\.(tsx?|mjs)$/.test(entry.name) ? [path] : []
  })
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function names(manifest: Manifest): Set<string> {
  return new Set(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }))
}
