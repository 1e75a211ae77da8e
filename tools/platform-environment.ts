import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder of this machine's platform. */
export const dataFolder = resolve(process.env['VITASCOPE_DATA_DIR'] || './data')

/** The database of a service: the one that is set, else that of the platform that runs on the data folder; undefined where none runs. */
export function databaseUrlOf(service: string): string | undefined {
  return setting(`VITASCOPE_${service.toUpperCase()}_DATABASE_URL`) || setting('VITASCOPE_DATABASE_URL') || embeddedUrl()
}

/** A value, or the content of the file that its `_FILE` names. */
function setting(name: string): string | undefined {
  const file = process.env[`${name}_FILE`]
  return process.env[name] || (file ? readFileSync(file, 'utf8').trim() : undefined)
}

/** What to say where no database is found. */
export const NO_PLATFORM = 'no platform runs on the data folder: start it first, or set VITASCOPE_DATA_DIR or VITASCOPE_DATABASE_URL\n'

/** The embedded server says its port in the fourth line of its pid file (PostgreSQL, storage-file-layout). */
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
