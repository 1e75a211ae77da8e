import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { BackupError } from './backup-error.ts'

/** Name of the file that exists while a backup writes into the folder. */
export const LOCK_FILE = 'running'
const REFRESH_MS = 3_000
/** A file that has not changed for this long is left from a process that was killed. */
const STALE_MS = 15_000
const POLL_MS = 500
/** Of several processes that replace the same lock within this time, the last one has it. */
const SETTLE_MS = 2_000

/** The only right to write into a folder. */
export interface FolderLock {
  /** Throws if another process has taken the lock, because this one was suspended for long. */
  check(): Promise<void>
  release(): Promise<void>
}

/**
 * Locks a folder. Two backups must not write into it at the same time: the first one to end would delete objects and
 * files of the other. Waits up to `STALE_MS` for the lock of a process that was killed. Throws `BackupError` if that
 * process still runs, perhaps on another machine.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const file = join(folder, LOCK_FILE)
  const id = randomUUID()
  while (!(await create(file, id))) if (await replaceStale(file, id, folder)) break
  const refresh = async () => {
    const now = new Date()
    await utimes(file, now, now)
  }
  // A lock that cannot be refreshed is noticed by `check`.
  const timer = setInterval(() => void refresh().catch(() => {}), REFRESH_MS)
  const isOwn = async () => (await readIfPresent(file)) === id
  return {
    async check() {
      if (!(await isOwn())) throw new BackupError(`another backup has started to write into ${folder}: run the backup again`)
    },
    async release() {
      clearInterval(timer)
      if (await isOwn()) await rm(file, { force: true })
    },
  }
}

/** Returns false if the file exists. */
async function create(file: string, id: string): Promise<boolean> {
  try {
    await writeFile(file, id, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/**
 * Waits until the file is stale, and replaces it. Returns false if the file is gone. Throws if it is refreshed, or if
 * another process has replaced it.
 */
async function replaceStale(file: string, id: string, folder: string): Promise<boolean> {
  const inUse = () => new BackupError(`another backup is writing into ${folder}: wait until it has ended`)
  const before = await changeTime(file)
  const own = `${file}.${id}`
  for (const until = performance.now() + STALE_MS; performance.now() < until; await delay(POLL_MS)) {
    const now = await changeTime(file)
    if (now === undefined) return false
    if (now !== before) throw inUse()
  }
  await writeFile(own, id, { mode: 0o600 })
  await rename(own, file)
  await delay(SETTLE_MS)
  if ((await readIfPresent(file)) !== id) throw inUse()
  return true
}

async function changeTime(file: string): Promise<number | undefined> {
  return await stat(file).then(({ mtimeMs }) => mtimeMs, ignoreMissing)
}

async function readIfPresent(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch(ignoreMissing)
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
