import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root, runCommand } from './run-command.ts'

/** An artefact that is generated from sources. It is regenerated when their content changes. */
interface Artefact {
  name: string
  /** Source files and folders. */
  from: string[]
  to: string
  /** Generates into an empty folder. */
  make: (folder: string) => Promise<void>
}

/** The artefact that is generated from committed files that are generated themselves. */
export const SITE = 'documentation site'

const artefacts: Artefact[] = [
  {
    name: 'code of the protos',
    from: ['proto', 'buf.yaml', 'buf.gen.yaml', 'package-lock.json'],
    to: 'libs/proto/src/gen',
    make: async (folder) => {
      // buf writes the paths of buf.gen.yaml below the output folder.
      await runOrThrow('buf', ['generate', '-o', join(folder, 'all')])
      const out = join(folder, 'all/libs/proto/src/gen')
      for (const name of readdirSync(out)) renameSync(join(out, name), join(folder, name))
      rmSync(join(folder, 'all'), { recursive: true })
      await runOrThrow('buf', ['build', '--as-file-descriptor-set', '-o', join(folder, 'descriptors.binpb')])
    },
  },
  {
    name: 'player page',
    from: [
      'apps/web/src',
      'apps/web/public',
      'apps/web/index.html',
      'apps/web/upload.html',
      'apps/web/vite.config.ts',
      'apps/web/package.json',
      'package-lock.json',
    ],
    to: 'apps/web/dist',
    make: (folder) => runOrThrow('vite', ['build', 'apps/web', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn']),
  },
  {
    name: SITE,
    from: [
      'docs',
      'apps/docs/src',
      'apps/docs/api',
      'apps/docs/public',
      'apps/docs/.vitepress/config.ts',
      'apps/docs/.vitepress/theme',
      'apps/docs/package.json',
      'ARCHITECTURE.md',
      'CHANGELOG.md',
      'helm/vitascope/README.md',
      'packages/cli/README.md',
      'packages/player/README.md',
      'packages/sdk/README.md',
      'package-lock.json',
    ],
    to: 'apps/docs/dist',
    make: (folder) => runOrThrow('node', ['--disable-warning=ExperimentalWarning', 'apps/docs/src/build.ts', folder]),
  },
  {
    name: 'player package',
    from: [
      'packages/player/src',
      'packages/player/vite.config.ts',
      'packages/player/tsconfig.json',
      'packages/player/tsconfig.build.json',
      'packages/player/package.json',
      'package-lock.json',
    ],
    to: 'packages/player/dist',
    make: async (folder) => {
      await runOrThrow('vite', ['build', 'packages/player', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'])
      await runOrThrow('tsc', ['-p', 'packages/player/tsconfig.build.json', '--outDir', folder])
    },
  },
  {
    name: 'types of the SDK',
    from: [
      'docs/openapi.json',
      'packages/sdk/generate-types.ts',
      'packages/sdk/simplify-contract.ts',
      'packages/sdk/package.json',
      'package-lock.json',
    ],
    to: 'packages/sdk/src/gen',
    make: (folder) => runOrThrow('node', ['--disable-warning=ExperimentalWarning', 'packages/sdk/generate-types.ts', folder]),
  },
  {
    name: 'SDK package',
    from: [
      'packages/sdk/src',
      'packages/sdk/vite.config.ts',
      'packages/sdk/tsconfig.json',
      'packages/sdk/tsconfig.build.json',
      'packages/sdk/package.json',
      'package-lock.json',
    ],
    to: 'packages/sdk/dist',
    make: async (folder) => {
      await runOrThrow('vite', ['build', 'packages/sdk', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'])
      await runOrThrow('tsc', ['-p', 'packages/sdk/tsconfig.build.json', '--outDir', folder])
    },
  },
  {
    name: 'console',
    // It contains the SDK package and the player package, which are generated before.
    from: [
      'docs/openapi.json',
      'packages/sdk/src',
      'packages/player/src',
      'apps/console/src',
      'apps/console/index.html',
      'apps/console/vite.config.ts',
      'apps/console/package.json',
      'package-lock.json',
    ],
    to: 'apps/console/dist',
    make: (folder) => runOrThrow('vite', ['build', 'apps/console', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn']),
  },
  {
    name: 'command line package',
    from: [
      'docs/openapi.json',
      'packages/sdk/generate-types.ts',
      'packages/sdk/simplify-contract.ts',
      'packages/sdk/src',
      'packages/cli/src',
      'packages/cli/vite.config.ts',
      'packages/cli/package.json',
      'package-lock.json',
    ],
    to: 'packages/cli/dist',
    make: (folder) => runOrThrow('vite', ['build', 'packages/cli', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn']),
  },
]

/**
 * Generates artefacts that are not committed, if they are missing or outdated. `log` receives a
 * line for each. `except` is the name of an artefact that is not generated.
 */
export async function generate(log: (line: string) => void = () => {}, except?: string): Promise<void> {
  for (const artefact of artefacts.filter(({ name }) => name !== except)) {
    const hash = hashContents(artefact.from)
    if (readStamp(artefact.to) === hash) continue
    const start = Date.now()
    await regenerate(artefact, hash)
    log(`generated the ${artefact.name} (${((Date.now() - start) / 1000).toFixed(1)} s)`)
  }
}

/**
 * Generates into a temporary folder and replaces the target by renames, so that a program that
 * reads the old files is disturbed only briefly.
 */
async function regenerate({ to, make }: Artefact, stamp: string): Promise<void> {
  const target = join(root, to)
  const fresh = join(root, '.cache', `artefact-${process.pid}`)
  const old = join(root, '.cache', `old-${process.pid}`)
  try {
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh, { recursive: true })
    await make(fresh)
    writeFileSync(join(fresh, '.stamp'), stamp)
    if (existsSync(target)) renameSync(target, old)
    mkdirSync(dirname(target), { recursive: true })
    renameSync(fresh, target)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
    rmSync(old, { recursive: true, force: true })
  }
}

async function runOrThrow(command: string, args: string[]): Promise<void> {
  const { code, output } = await runCommand(command, args)
  if (code !== 0) throw new Error(`${command} ${args[0]} failed:\n${output}`)
}

function readStamp(folder: string): string | undefined {
  const file = join(root, folder, '.stamp')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

function hashContents(paths: readonly string[]): string {
  const hash = createHash('sha256').update(process.version)
  for (const file of paths.flatMap((path) => listFiles(join(root, path))))
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}

function listFiles(path: string): string[] {
  if (!existsSync(path)) return []
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [path]
    throw error
  }
}
