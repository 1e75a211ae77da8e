// npm run import-postcodes -- [--skip-bad] FILE: takes a GeoNames postal code file into the database of this machine's platform, while
// it runs. VITASCOPE_CATALOGUE_DATABASE_URL or VITASCOPE_DATABASE_URL names another database; else it is that of VITASCOPE_DATA_DIR.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const command = join(import.meta.dirname, '../apps/catalogue/src/location/import.ts')
const url = databaseUrl()
if (url === undefined) {
  process.stderr.write('no platform runs on the data folder: start it first, or set VITASCOPE_DATA_DIR or VITASCOPE_DATABASE_URL\n')
  process.exitCode = 1
} else {
  const env = { ...process.env, VITASCOPE_CATALOGUE_DATABASE_URL: url }
  const args = ['--disable-warning=ExperimentalWarning', command, ...process.argv.slice(2)]
  process.exitCode = spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status ?? 1
}

function databaseUrl(): string | undefined {
  return process.env['VITASCOPE_CATALOGUE_DATABASE_URL'] || process.env['VITASCOPE_DATABASE_URL'] || embeddedUrl()
}

/** The embedded server says its port in the fourth line of its pid file (PostgreSQL, storage-file-layout). */
function embeddedUrl(): string | undefined {
  const folder = resolve(process.env['VITASCOPE_DATA_DIR'] || './data')
  try {
    const port = readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3]
    const password = readFileSync(join(folder, 'secrets', 'postgres-password'), 'utf8').trim()
    return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/vitascope`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
