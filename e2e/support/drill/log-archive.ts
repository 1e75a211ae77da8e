import { execFile } from 'node:child_process'
import { appendFile, copyFile, cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { PgBackRest } from '@vitascope/testing'
import pg from 'pg'

export interface ServerToBackUp {
  url: string
  port: number
  data: string
  socketDir: string
}

/** A program that stores base backups and the log of a server. */
export interface LogArchive {
  /** Folder of the programs of the server that it supports. By default, those of the installed package. */
  binDir?: string
  archiveCommand: string
  backUp(server: ServerToBackUp): Promise<void>
  /** Creates the data of a server that recovers to the end of the archive. */
  restore(data: string): Promise<void>
}

const run = promisify(execFile)
/** Files that a base backup must not contain. */
const NOT_COPIED = /^(pg_wal|pg_replslot)\/|^postmaster[.](pid|opts)$/

/** Copies segments of the log into a folder, as the manual of PostgreSQL describes it. */
export async function openFolderArchive(folder: string): Promise<LogArchive> {
  const [base, archive] = [join(folder, 'base'), join(folder, 'archive')]
  await mkdir(archive, { recursive: true })
  return {
    archiveCommand: `test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`,
    async backUp({ url, data }) {
      await rm(base, { recursive: true, force: true })
      await copyBase(url, data, base)
    },
    async restore(data) {
      await cp(base, data, { recursive: true, preserveTimestamps: true })
      await appendFile(join(data, 'postgresql.auto.conf'), `restore_command = 'cp ${archive}/%f %p'\n`)
      await writeFile(join(data, 'recovery.signal'), '')
    },
  }
}

/** Uses pgBackRest with a repository in a folder. */
export async function openPgBackRestArchive(folder: string, { program, binDir }: PgBackRest): Promise<LogArchive> {
  const configFile = join(folder, 'pgbackrest.conf')
  await mkdir(join(folder, 'repository'), { recursive: true })
  const command = (...args: string[]) => run(program, [`--config=${configFile}`, '--stanza=vitascope', ...args])
  return {
    binDir,
    archiveCommand: `${program} --config=${configFile} --stanza=vitascope archive-push %p`,
    async backUp({ port, data, socketDir }) {
      const settings = { 'repo1-path': join(folder, 'repository'), 'repo1-retention-full': 2, 'start-fast': 'y' }
      const folders = { 'log-path': folder, 'lock-path': folder, 'spool-path': folder }
      const server = { 'pg1-path': data, 'pg1-port': port, 'pg1-socket-path': socketDir, 'pg1-user': 'postgres' }
      await writeFile(configFile, `[global]\n${formatOptions({ ...settings, ...folders })}[vitascope]\n${formatOptions(server)}`)
      await command('stanza-create')
      await command('--type=full', 'backup')
    },
    async restore(data) {
      await mkdir(data, { mode: 0o700 })
      await command('restore')
    },
  }
}

function formatOptions(options: Readonly<Record<string, string | number>>): string {
  return Object.entries(options)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

/** Copies the files of a running server (PostgreSQL, "Making a Base Backup Using the Low Level API"). */
async function copyBase(url: string, data: string, base: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('drill', fast => true)`)
    await copyRunning(data, base)
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()')
    await writeFile(join(base, 'backup_label'), rows[0]?.labelfile ?? '')
  } finally {
    await client.end()
  }
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
