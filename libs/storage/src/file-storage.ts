import { copyFile, link, mkdir, open, readdir, realpath, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { DomainError, notFound } from '@vitascope/errors'
import { type Disk, isErrno, nodeDisk } from './disk.ts'
import { foldersIn, infoOf, listFolder } from './file-listing.ts'
import { createObjectWriter } from './file-writing.ts'
import { checkObjectName, checkObjectPrefix } from './object-name.ts'
import { type ObjectStorage, resolveRange } from './object-storage.ts'

export interface FileStorageOptions {
  /** The folder of the objects; made where missing. Several processes may share it. */
  root: string
  /** Files that a crash left behind unfinished are removed on opening once they are this old; 1 hour by default. */
  staleAfterMs?: number
  /** The disk itself by default. */
  disk?: Disk
}

// No object's name can begin like this.
const asideFolder = '.incoming'
// Reads of 1 MiB serve twice as many bytes a second as Node's 64 KiB.
const readBytes = 1 << 20

/** Objects as files below one folder, each at the path that its name says. */
export async function openFileStorage({
  root: folder,
  staleAfterMs = 3_600_000,
  disk = nodeDisk,
}: FileStorageOptions): Promise<ObjectStorage> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const root = await realpath(folder)
  const aside = join(root, asideFolder)
  await disk.makeFolder(aside)
  await removeStale(aside, staleAfterMs)
  const writer = createObjectWriter(disk, root, aside)

  const storage: ObjectStorage = {
    put: async (name, source, { signal } = {}) => writer.write(join(root, checkObjectName(name)), source, signal),

    async open(name, { range: request, signal } = {}) {
      const path = await locate(name, signal)
      const file = path === undefined ? undefined : await openFile(path)
      if (!file) throw notFound('object', name)
      const { handle, bytes, modified } = file
      try {
        const range = request && resolveRange(request, bytes)
        // A stream whose signal has aborted already would fail before anybody listens to it, and end the process.
        signal?.throwIfAborted()
        const { start, end } = range ?? { start: 0, end: Math.max(0, bytes - 1) }
        // No more room than there are bytes: most objects are small.
        const stream = handle.createReadStream({ start, end, highWaterMark: Math.min(readBytes, end - start + 1) })
        return { stream: signal ? addAbortSignal(signal, stream) : stream, bytes, modified, range }
      } catch (error) {
        await handle.close()
        throw error
      }
    },

    async stat(name, signal) {
      const path = await locate(name, signal)
      return path === undefined ? undefined : infoOf(path, name)
    },

    async *list(prefix, signal) {
      const checked = checkObjectPrefix(prefix)
      const path = checked === '' ? root : await locate(checked, signal)
      if (path !== undefined) yield* listFolder(path, checked, signal)
    },

    async *folders(prefix, signal) {
      const checked = checkObjectPrefix(prefix)
      const path = checked === '' ? root : await locate(checked, signal)
      if (path !== undefined) yield* foldersIn(path, checked)
    },

    async delete(name, signal) {
      const path = await locate(name, signal)
      if (path === undefined || !(await infoOf(path, name))) return false
      await rm(path, { force: true })
      await removeEmpty(dirname(path))
      return true
    },

    async deletePrefix(prefix, signal) {
      if (checkObjectPrefix(prefix) === '') throw new DomainError('invalid', 'BAD_OBJECT_NAME', 'the empty prefix is not for deleting')
      let count = 0
      for await (const { name } of storage.list(prefix, signal)) if (await storage.delete(name, signal)) count++
      return count
    },

    async download(name, targetFile, signal) {
      const path = await locate(name, signal)
      const info = path === undefined ? undefined : await infoOf(path, name)
      if (path === undefined || !info) throw notFound('object', name)
      await rm(targetFile, { force: true })
      try {
        await link(path, targetFile)
      } catch (error) {
        if (!isErrno(error, 'EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error
        await copyFile(path, targetFile)
      }
      return { bytes: info.bytes }
    },
  }
  return storage

  /** The path of a name, if no symbolic link stands on the way: a link could lead out of the root. */
  async function locate(name: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    signal?.throwIfAborted()
    const path = join(root, checkObjectName(name))
    try {
      return (await realpath(path)) === path ? path : undefined
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined
      throw error
    }
  }

  /** Upwards, up to the first folder that holds something. */
  async function removeEmpty(below: string): Promise<void> {
    for (let path = below; path !== root; path = dirname(path)) {
      try {
        await rmdir(path)
      } catch (error) {
        if (isErrno(error, 'ENOTEMPTY', 'EEXIST')) return
        if (!isErrno(error, 'ENOENT')) throw error
      }
    }
  }
}

async function openFile(path: string) {
  try {
    const handle = await open(path, 'r')
    const there = await handle.stat()
    if (there.isFile()) return { handle, bytes: there.size, modified: there.mtime }
    await handle.close()
    return undefined
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

async function removeStale(aside: string, staleAfterMs: number): Promise<void> {
  for (const name of await readdir(aside)) {
    const path = join(aside, name)
    const there = await stat(path).catch((error: unknown) => {
      // Another process finished with it just now.
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    })
    if (there && Date.now() - there.mtimeMs >= staleAfterMs) await rm(path, { force: true })
  }
}
