import { createHash, randomUUID } from 'node:crypto'
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { DomainError } from '@vitascope/errors'
import { type Disk, isErrno } from './disk.ts'
import type { FileSource, ObjectSource, StoredBytes } from './object-storage.ts'
import { fileReplaced, isFileSource, type OpenedSource, openSource, readPieces } from './plain-file.ts'

export interface ObjectWriter {
  /**
   * Stores an object at a path below the root. Throws `exists` OBJECT_EXISTS if it has other bytes,
   * and `unavailable` STORAGE_FULL.
   */
  write(path: string, source: ObjectSource, signal: AbortSignal | undefined): Promise<StoredBytes>
}

const READ_BYTES = 1 << 20

// Maximum attempts to link an object. A folder is deleted with its last object, so a put may have
// to create it again.
const MAX_ATTEMPTS = 5

/**
 * Returns a writer of objects. It writes the bytes to a temporary file, syncs it, links it to its
 * name, and syncs the folder. The object is not visible before the link. After a crash only the
 * temporary file remains.
 */
export function createObjectWriter(disk: Disk, root: string, incomingDir: string): ObjectWriter {
  const foldersInCreation = new Map<string, Promise<void>>()
  /** Settles after the last rename that was started. */
  let lastRename: Promise<void> = Promise.resolve()
  return { write }

  async function write(path: string, source: ObjectSource, signal: AbortSignal | undefined): Promise<StoredBytes> {
    const temporary = join(incomingDir, randomUUID())
    try {
      signal?.throwIfAborted()
      const stored = isFileSource(source)
        ? await storeFile(source, temporary, signal)
        : await copy(readChunks(source, signal), temporary, signal)
      await linkObject(temporary, path, stored, signal)
      if (isFileSource(source) && source.move) await disk.remove(source.file)
      return stored
    } catch (error) {
      if (isErrno(error, 'ENOSPC', 'EDQUOT')) throw new DomainError('unavailable', 'STORAGE_FULL', 'the storage is full', { cause: error })
      throw error
    } finally {
      await disk.remove(temporary)
    }
  }

  async function storeFile(source: FileSource, temporary: string, signal: AbortSignal | undefined): Promise<StoredBytes> {
    const opened = await openSource(source)
    try {
      if (source.move && (await linkTemporary(source.file, temporary))) return await useLinkedFile(opened, temporary, signal)
      return await copy(readPieces(opened, READ_BYTES, signal), temporary, signal)
    } finally {
      await opened.close()
    }
  }

  /**
   * Links the source file as the temporary file. Returns false if it is on another file system, or
   * the file system has no hard links.
   */
  async function linkTemporary(file: string, temporary: string): Promise<boolean> {
    try {
      await disk.link(file, temporary)
      return true
    } catch (error) {
      if (isErrno(error, 'EXDEV', ...NO_HARD_LINKS)) return false
      throw error
    }
  }

  /**
   * Hashes and syncs a source file that was linked as the temporary file. Throws `FILE_REPLACED` if
   * the link refers to another file than the opened one. link(2) does not follow symbolic links.
   */
  async function useLinkedFile(opened: OpenedSource, temporary: string, signal: AbortSignal | undefined): Promise<StoredBytes> {
    const linked = await lstat(temporary)
    if (linked.dev !== opened.dev || linked.ino !== opened.ino) throw fileReplaced()
    const file = await disk.openForSync(temporary)
    try {
      const stored = await hashChunks(readPieces(opened, READ_BYTES, signal))
      await file.sync()
      return stored
    } finally {
      await file.close()
    }
  }

  /** Writes the chunks to the temporary file and syncs it. */
  async function copy(chunks: AsyncIterable<Uint8Array>, temporary: string, signal: AbortSignal | undefined): Promise<StoredBytes> {
    const hash = createHash('sha256')
    let bytes = 0
    const file = await disk.create(temporary)
    try {
      for await (const chunk of chunks) {
        hash.update(chunk)
        bytes += chunk.length
        await file.write(chunk)
      }
      signal?.throwIfAborted()
      await file.sync()
    } finally {
      await file.close()
    }
    return { bytes, sha256: hash.digest('hex') }
  }

  /**
   * Links the temporary file to the path of the object and syncs the folder. An object with the
   * same bytes is left unchanged. Throws OBJECT_EXISTS if the bytes differ.
   */
  async function linkObject(temporary: string, path: string, stored: StoredBytes, signal: AbortSignal | undefined): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if (attempt > 1 || !(await folderExists(dirname(path)))) await makeFolders(dirname(path))
      try {
        await linkOrRename(temporary, path)
        break
      } catch (error) {
        if (isErrno(error, 'EEXIST') && (await hasSameBytes(path, stored, signal))) break
        if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EEXIST') || attempt === MAX_ATTEMPTS) throw error
      }
    }
    await disk.syncFolder(dirname(path))
  }

  async function linkOrRename(temporary: string, path: string): Promise<void> {
    try {
      await disk.link(temporary, path)
    } catch (error) {
      if (!isErrno(error, ...NO_HARD_LINKS)) throw error
      await renameIfFree(temporary, path)
    }
  }

  /**
   * Renames the temporary file unless the object exists. The check and the rename are two calls, so
   * this process runs one such pair at a time. Other processes can still replace the object between
   * the calls.
   */
  async function renameIfFree(temporary: string, path: string): Promise<void> {
    const renamed = lastRename.then(async () => {
      if (await exists(path)) throw Object.assign(new Error('the object exists'), { code: 'EEXIST' })
      await disk.rename(temporary, path)
    })
    // The caller gets the error. The next rename only waits.
    lastRename = renamed.catch(() => {})
    await renamed
  }

  /**
   * Creates a folder and its parents. It resolves when the entry in the parent is durable;
   * concurrent callers wait for the same creation.
   */
  async function makeFolders(folder: string): Promise<void> {
    if (folder === root) return
    await makeFolders(dirname(folder))
    let creation = foldersInCreation.get(folder)
    if (!creation) {
      creation = makeFolder(folder).finally(() => foldersInCreation.delete(folder))
      foldersInCreation.set(folder, creation)
    }
    await creation
  }

  /**
   * Returns whether the folder exists without symbolic links on the path. Waits for folders that
   * are being created.
   */
  async function folderExists(folder: string): Promise<boolean> {
    const existsWithoutLinks = (await realpath(folder).catch(ignoreMissing)) === folder
    // Wait after the check: an existing folder may have been created by another call whose entry is
    // not durable yet.
    if (foldersInCreation.size > 0) for (let parent = folder; parent !== root; parent = dirname(parent)) await foldersInCreation.get(parent)
    return existsWithoutLinks
  }

  async function makeFolder(folder: string): Promise<void> {
    try {
      if (await disk.makeFolder(folder)) await disk.syncFolder(dirname(folder))
    } catch (error) {
      if (isErrno(error, 'EEXIST', 'ENOTDIR')) throw objectExists(error)
      // The parent was deleted with its last object. `linkObject` then fails with ENOENT and
      // retries.
      if (!isErrno(error, 'ENOENT')) throw error
    }
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw error
}

// Errors of file systems without hard links.
const NO_HARD_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}

/**
 * Returns whether the file has the same bytes, or false if it was deleted meanwhile. Throws if the
 * bytes differ.
 */
async function hasSameBytes(path: string, stored: StoredBytes, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    const stats = await lstat(path)
    if (!stats.isFile() || stats.size !== stored.bytes) throw objectExists()
    if ((await hashFile(path, signal)).sha256 !== stored.sha256) throw objectExists()
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}

function objectExists(cause?: unknown): DomainError {
  return new DomainError(
    'exists',
    'OBJECT_EXISTS',
    'an object or a folder with this name, or an object in place of one of its folders, already exists',
    { cause },
  )
}

async function hashFile(path: string, signal: AbortSignal | undefined): Promise<StoredBytes> {
  const opened = await openSource({ file: path })
  try {
    return await hashChunks(readPieces(opened, READ_BYTES, signal))
  } finally {
    await opened.close()
  }
}

async function hashChunks(chunks: AsyncIterable<Uint8Array>): Promise<StoredBytes> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

async function* readChunks(source: Readable | Uint8Array, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  if (source instanceof Uint8Array) {
    yield source
    return
  }
  if (signal) addAbortSignal(signal, source)
  for await (const chunk of source) yield chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk))
}
