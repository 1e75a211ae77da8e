import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Returns the URL of the embedded server that runs on a data folder, as superuser, or undefined if
 * none does. The files of a killed server remain, so a connection can still fail.
 */
export async function runningDatabaseUrl(dataDir: string): Promise<string | undefined> {
  try {
    // The fourth line of the pid file is the port (PostgreSQL, storage-file-layout).
    const port = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[3]
    const password = (await readFile(join(dataDir, 'secrets', 'postgres-password'), 'utf8')).trim()
    return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/vitascope`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
