import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Data folder of this machine's platform. */
export const dataFolder = resolve(process.env['VITASCOPE_DATA_DIR'] || './data')

/**
 * Returns the database URL of a service: the configured one, or that of the platform that runs on
 * the data folder. Returns undefined if none runs.
 */
export function databaseUrlOf(service: string): string | undefined {
  return setting(`VITASCOPE_${service.toUpperCase()}_DATABASE_URL`) || setting('VITASCOPE_DATABASE_URL') || embeddedUrl()
}

/** Returns the value of a variable, or the content of the file in its `_FILE` variable. */
function setting(name: string): string | undefined {
  const file = process.env[`${name}_FILE`]
  return process.env[name] || (file ? readFileSync(file, 'utf8').trim() : undefined)
}

/** Error message if no database is found. */
export const NO_PLATFORM = 'no platform runs on the data folder: start it first, or set VITASCOPE_DATA_DIR or VITASCOPE_DATABASE_URL\n'

/**
 * Returns the URL of the embedded server. Its port is in the fourth line of the pid file
 * (PostgreSQL, storage-file-layout).
 */
function embeddedUrl(): string | undefined {
  try {
    const port = readFileSync(join(dataFolder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3]
    const password = readFileSync(join(dataFolder, 'secrets', 'postgres-password'), 'utf8').trim()
    return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/vitascope`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
