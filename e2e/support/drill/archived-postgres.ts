import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { initDatabase, type RunningPostgres, startPostgres } from '@vitascope/embedded-postgres'
import { waitFor } from '@vitascope/testing'
import pg from 'pg'
import { killFamily } from '../processes.ts'
import type { LogArchive } from './log-archive.ts'

/** A server that archives its log, and is restored from a base backup and the archive. */
export interface ArchivedPostgres {
  /** URL of the superuser. */
  url: string
  /** Makes a base backup while the server runs. */
  backUp(): Promise<void>
  /** Kills all processes of the server, so that it archives nothing more. */
  kill(): Promise<void>
  /** Deletes the data of the killed server. The backup and the archive remain. */
  destroy(): Promise<void>
  /** Restores the newest state that the archive contains, on the same port. */
  restore(): Promise<void>
  stop(): Promise<void>
}

/** Starts a server in `folder`. It archives a segment of its log at the latest after `archiveSeconds`. */
export async function startArchivedPostgres(
  folder: string,
  archiveSeconds: number,
  openArchive: (folder: string) => Promise<LogArchive>,
): Promise<ArchivedPostgres> {
  const data = join(folder, 'data')
  const archive = await openArchive(folder)
  const programs = archive.binDir === undefined ? {} : { binDir: archive.binDir }
  await initDatabase(data, programs)
  const start = (port?: number) =>
    startPostgres({
      ...{ dir: data, ...programs, ...(port !== undefined && { port }) },
      settings: {
        archive_mode: 'on',
        archive_timeout: String(archiveSeconds),
        archive_command: archive.archiveCommand,
        unix_socket_directories: folder,
      },
    })
  let server: RunningPostgres = await start()
  const { port, url } = server
  return {
    url,
    backUp: () => archive.backUp({ url, port, data, socketDir: folder }),
    kill: () => killFamily(server.pid),
    destroy: () => rm(data, { recursive: true, maxRetries: 5 }),
    async restore() {
      await archive.restore(data)
      server = await start(port)
      await waitFor(() => hasRecovered(url), { timeout: 60_000, describe: 'the database to replay its log' })
    },
    stop: () => server.stop({ immediate: true }),
  }
}

async function hasRecovered(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ recovering: boolean }>('select pg_is_in_recovery() as recovering')
    return rows[0]?.recovering === false
  } finally {
    await client.end()
  }
}
