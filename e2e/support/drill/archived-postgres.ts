import { appendFile, copyFile, cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { initDatabase, type RunningPostgres, startPostgres } from '@vitascope/embedded-postgres'
import { waitFor } from '@vitascope/testing'
import pg from 'pg'

/** A server that archives its log, and is restored from a base backup and the archive. */
export interface ArchivedPostgres {
  /** URL of the superuser. */
  url: string
  /** Makes a base backup while the server runs. */
  backUp(): Promise<void>
  /** Kills the server and deletes its data. The backup and the archive remain. */
  destroy(): Promise<void>
  /** Restores the newest state that the archive contains, on the same port. */
  restore(): Promise<void>
  stop(): Promise<void>
}

/** Files that a base backup must not contain. */
const NOT_COPIED = /^(pg_wal|pg_replslot)\/|^postmaster[.](pid|opts)$/

/** Starts a server in `folder`. It archives a segment of its log at the latest after `archiveSeconds`. */
export async function startArchivedPostgres(folder: string, archiveSeconds: number): Promise<ArchivedPostgres> {
  const [data, base, archive] = ['data', 'base', 'archive'].map((name) => join(folder, name)) as [string, string, string]
  await mkdir(archive, { recursive: true })
  await initDatabase(data)
  await appendFile(
    join(data, 'postgresql.auto.conf'),
    [
      'archive_mode = on',
      `archive_timeout = ${archiveSeconds}`,
      `archive_command = 'test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f'`,
      '',
    ].join('\n'),
  )
  let server: RunningPostgres = await startPostgres({ dir: data })
  const { port, url } = server
  return {
    url,
    async backUp() {
      await rm(base, { recursive: true, force: true })
      await copyBase(url, data, base)
    },
    async destroy() {
      process.kill(server.pid, 'SIGKILL')
      await server.exited
      await rm(data, { recursive: true, maxRetries: 5 })
    },
    async restore() {
      await cp(base, data, { recursive: true, preserveTimestamps: true })
      await appendFile(join(data, 'postgresql.auto.conf'), `restore_command = 'cp ${archive}/%f %p'\n`)
      await writeFile(join(data, 'recovery.signal'), '')
      server = await startPostgres({ dir: data, port })
      await waitFor(() => hasRecovered(url), { timeout: 60_000, describe: 'the database to replay its log' })
    },
    stop: () => server.stop({ immediate: true }),
  }
}

/** Copies the files of a running server (PostgreSQL, "Making a Base Backup Using the Low Level API"). */
async function copyBase(url: string, data: string, base: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`select pg_backup_start('drill', fast => true)`)
    await copyRunning(data, base)
    const { rows } = await client.query<{ labelfile: string; spcmapfile: string }>('select labelfile, spcmapfile from pg_backup_stop()')
    await writeFile(join(base, 'backup_label'), rows[0]?.labelfile ?? '')
  })
}

/** Copies a folder while its files change. A file that was deleted meanwhile is left out: the log repairs it. */
async function copyRunning(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 })
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = relative(from, join(entry.parentPath, entry.name))
    if (NOT_COPIED.test(path)) continue
    const folder = entry.isDirectory() ? join(to, path) : dirname(join(to, path))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (entry.isFile()) await copyIfPresent(join(from, path), join(to, path))
  }
}

async function copyIfPresent(from: string, to: string): Promise<void> {
  await copyFile(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

function hasRecovered(url: string): Promise<boolean> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ recovering: boolean }>('select pg_is_in_recovery() as recovering')
    return rows[0]?.recovering === false
  })
}

async function withClient<T>(url: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}
