import { copyFile, link, mkdir, open, readdir, realpath, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { DomainError, notFound } from '@vitascope/errors'
import { type Disk, isErrno, nodeDisk } from './disk.ts'
import { findObject, listFolder, listFolders } from './file-listing.ts'
import { createObjectWriter } from './file-writing.ts'
import { checkObjectName, checkObjectPrefix } from './object-name.ts'
import { type ObjectStorage, resolveRange } from './object-storage.ts'

export interface FileStorageOptions {
  /** Root folder of the objects; created if missing. Several processes may share it. */
  root: string
  /**
   * Age in ms from which unfinished files are deleted when the store is opened; 1 hour by default.
   */
  staleAfterMs?: number
  /** Operations that write files; those of the real disk by default. */
  disk?: Disk
}

/** Folder of unfinished files. No object name can begin with a dot. */
const INCOMING_FOLDER = '.incoming'
// Reads of 1 MiB have twice the throughput of Node's default of 64 KiB.
const READ_BYTES = 1 << 20

/** Opens a store whose objects are files below one folder. The name of an object is its path. */
export async function openFileStorage({
  root: folder,
  staleAfterMs = 3_600_000,
  disk = nodeDisk,
}: FileStorageOptions): Promise<ObjectStorage> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const root = await realpath(folder)
  const incomingDir = join(root, INCOMING_FOLDER)
  await disk.makeFolder(incomingDir)
  await removeStale(incomingDir, staleAfterMs)
  const writer = createObjectWriter(disk, root, incomingDir)

  const storage: ObjectStorage = {
    put: async (name, source, { signal } = {}) => writer.write(join(root, checkObjectName(name)), source, signal),

    async open(name, { range: request, signal } = {}) {
      const path = await locate(name, signal)
      const file = path === undefined ? undefined : await openFile(path)
      if (!file) throw notFound('object', name)
      const { handle, bytes, modified } = file
      try {
        const range = request && resolveRange(request, bytes)
        // A stream with an aborted signal would fail before it has a listener, and end the process.
        signal?.throwIfAborted()
        const { start, end } = range ?? { start: 0, end: Math.max(0, bytes - 1) }
        // The buffer is no larger than the range: most objects are small.
        const stream = handle.createReadStream({ start, end, highWaterMark: Math.min(READ_BYTES, end - start + 1) })
        return { stream: signal ? addAbortSignal(signal, stream) : stream, bytes, modified, range }
      } catch (error) {
        await handle.close()
        throw error
      }
    },

    async openHandle(name, signal) {
      const path = await locate(name, signal)
      const file = path === undefined ? undefined : await openFile(path)
      if (!file) throw notFound('object', name)
      const { handle, bytes, modified } = file
      return {
        bytes,
        modified,
        async read(buffer, position) {
          let length = 0
          while (length < buffer.length) {
            const { bytesRead } = await handle.read(buffer, length, buffer.length - length, position + length)
            if (bytesRead === 0) break
            length += bytesRead
          }
          return length
        },
        close: () => handle.close(),
      }
    },

    async stat(name, signal) {
      const path = await locate(name, signal)
      return path === undefined ? undefined : findObject(path, name)
    },

    async *list(prefix, signal) {
      const checked = checkObjectPrefix(prefix)
      const path = checked === '' ? root : await locate(checked, signal)
      if (path !== undefined) yield* listFolder(path, checked, signal)
    },

    async *folders(prefix, signal) {
      const checked = checkObjectPrefix(prefix)
      const path = checked === '' ? root : await locate(checked, signal)
      if (path !== undefined) yield* listFolders(path, checked)
    },

    async delete(name, signal) {
      const path = await locate(name, signal)
      if (path === undefined || !(await findObject(path, name))) return false
      await rm(path, { force: true })
      await removeEmpty(dirname(path))
      return true
    },

    async deletePrefix(prefix, signal) {
      if (checkObjectPrefix(prefix) === '') throw new DomainError('invalid', 'BAD_OBJECT_NAME', 'the prefix must not be empty')
      let count = 0
      for await (const { name } of storage.list(prefix, signal)) if (await storage.delete(name, signal)) count++
      return count
    },

    async download(name, targetFile, signal) {
      const path = await locate(name, signal)
      const info = path === undefined ? undefined : await findObject(path, name)
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

  /**
   * Returns the path of a name. Returns undefined if nothing exists there, or if the path contains
   * a symbolic link, which could lead out of the root.
   */
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

  /** Deletes empty folders upwards, up to the first one that is not empty. */
  async function removeEmpty(folder: string): Promise<void> {
    for (let path = folder; path !== root; path = dirname(path)) {
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
    const stats = await handle.stat()
    if (stats.isFile()) return { handle, bytes: stats.size, modified: stats.mtime }
    await handle.close()
    return undefined
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/**
 * Deletes the files of an interrupted write that were not changed for `staleAfterMs`. The time of the last change includes
 * the creation of a link. The modification time of a moved file does not: it is that of its source, which may be old.
 */
async function removeStale(incomingDir: string, staleAfterMs: number): Promise<void> {
  for (const name of await readdir(incomingDir)) {
    const path = join(incomingDir, name)
    const stats = await stat(path).catch((error: unknown) => {
      // Another process has just completed or deleted it.
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    })
    if (stats && Date.now() - Math.floor(stats.ctimeMs) >= staleAfterMs) await rm(path, { force: true })
  }
}
