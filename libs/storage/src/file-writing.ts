import { createHash, randomUUID } from 'node:crypto'
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { DomainError } from '@vitascope/errors'
import { type Disk, isErrno } from './disk.ts'
import type { FileSource, ObjectSource, StoredBytes } from './object-storage.ts'
import { fileReplaced, isFileSource, type OpenedSource, openSource, piecesOf } from './plain-file.ts'

export interface ObjectWriter {
  write(path: string, source: ObjectSource, signal: AbortSignal | undefined): Promise<StoredBytes>
}

const READ_BYTES = 1 << 20

// A folder is deleted with its last object, so a put may have to create it again.
const placingTries = 5

/**
 * Returns a writer of whole objects. It writes the bytes to a temporary file, syncs it, links it to its name, and
 * syncs the folder. Nothing is visible before the link; after a crash only the temporary file is left.
 */
export function createObjectWriter(disk: Disk, root: string, aside: string): ObjectWriter {
  const making = new Map<string, Promise<void>>()
  return { write }

  async function write(path: string, source: ObjectSource, signal: AbortSignal | undefined): Promise<StoredBytes> {
    const temporary = join(aside, randomUUID())
    try {
      signal?.throwIfAborted()
      const stored = isFileSource(source)
        ? await takeFile(source, temporary, signal)
        : await copy(chunksOf(source, signal), temporary, signal)
      await place(temporary, path, stored, signal)
      if (isFileSource(source) && source.move) await disk.remove(source.file)
      return stored
    } catch (error) {
      if (isErrno(error, 'ENOSPC', 'EDQUOT')) throw new DomainError('unavailable', 'STORAGE_FULL', 'the storage is full', { cause: error })
      throw error
    } finally {
      await disk.remove(temporary)
    }
  }

  async function takeFile(source: FileSource, temporary: string, signal: AbortSignal | undefined): Promise<StoredBytes> {
    const opened = await openSource(source)
    try {
      if (source.move && (await linkAside(source.file, temporary))) return await adopt(opened, temporary, signal)
      return await copy(piecesOf(opened, READ_BYTES, signal), temporary, signal)
    } finally {
      await opened.close()
    }
  }

  /**
   * Links the source file as the temporary file. Returns false if it is on another file system, or the file system
   * has no hard links.
   */
  async function linkAside(file: string, temporary: string): Promise<boolean> {
    try {
      await disk.link(file, temporary)
      return true
    } catch (error) {
      if (isErrno(error, 'EXDEV', ...withoutLinks)) return false
      throw error
    }
  }

  /**
   * Uses the second link of a file as the object. link(2) does not follow symbolic links, so the temporary file shows
   * what was linked.
   */
  async function adopt(opened: OpenedSource, temporary: string, signal: AbortSignal | undefined): Promise<StoredBytes> {
    const linked = await lstat(temporary)
    if (linked.dev !== opened.dev || linked.ino !== opened.ino) throw fileReplaced()
    const file = await disk.adopt(temporary)
    try {
      const stored = await hashOf(piecesOf(opened, READ_BYTES, signal))
      await file.sync()
      return stored
    } finally {
      await file.close()
    }
  }

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

  async function place(temporary: string, path: string, stored: StoredBytes, signal: AbortSignal | undefined): Promise<void> {
    for (let tries = 1; ; tries++) {
      if (tries > 1 || !(await isStored(dirname(path)))) await makeFolders(dirname(path))
      try {
        await linkOrRename(temporary, path)
        break
      } catch (error) {
        if (isErrno(error, 'EEXIST') && (await isSame(path, stored, signal))) break
        if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EEXIST') || tries === placingTries) throw error
      }
    }
    await disk.syncFolder(dirname(path))
  }

  async function linkOrRename(temporary: string, path: string): Promise<void> {
    try {
      await disk.link(temporary, path)
    } catch (error) {
      if (!isErrno(error, ...withoutLinks)) throw error
      if (await exists(path)) throw Object.assign(new Error('taken'), { code: 'EEXIST' })
      await disk.rename(temporary, path)
    }
  }

  /**
   * Creates a folder and its parents. It resolves when the entry in the parent is durable; concurrent callers wait
   * for the same creation.
   */
  async function makeFolders(folder: string): Promise<void> {
    if (folder === root) return
    await makeFolders(dirname(folder))
    let made = making.get(folder)
    if (!made) {
      made = makeFolder(folder).finally(() => making.delete(folder))
      making.set(folder, made)
    }
    await made
  }

  /** Returns whether the folder exists without symbolic links on the path. Waits for folders that are being created. */
  async function isStored(folder: string): Promise<boolean> {
    const isHere = (await realpath(folder).catch(ignoreMissing)) === folder
    // Wait after the check: an existing folder may have been created by another call whose entry is not durable yet.
    if (making.size > 0) for (let above = folder; above !== root; above = dirname(above)) await making.get(above)
    return isHere
  }

  async function makeFolder(folder: string): Promise<void> {
    try {
      if (await disk.makeFolder(folder)) await disk.syncFolder(dirname(folder))
    } catch (error) {
      if (isErrno(error, 'EEXIST', 'ENOTDIR')) throw taken(error)
      // The parent was deleted with its last object. The link in `place` then fails with ENOENT, and `place` retries.
      if (!isErrno(error, 'ENOENT')) throw error
    }
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw error
}

// Errors of file systems without hard links.
const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}

/** Returns whether the path has the same bytes. False if the file was deleted meanwhile; throws if the bytes differ. */
async function isSame(path: string, stored: StoredBytes, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    const there = await lstat(path)
    if (!there.isFile() || there.size !== stored.bytes) throw taken()
    if ((await hashFile(path, signal)).sha256 !== stored.sha256) throw taken()
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}

function taken(cause?: unknown): DomainError {
  return new DomainError('exists', 'OBJECT_EXISTS', 'an object with this name, or with a part of it, already exists', { cause })
}

async function hashFile(path: string, signal: AbortSignal | undefined): Promise<StoredBytes> {
  const opened = await openSource({ file: path })
  try {
    return await hashOf(piecesOf(opened, READ_BYTES, signal))
  } finally {
    await opened.close()
  }
}

async function hashOf(chunks: AsyncIterable<Uint8Array>): Promise<StoredBytes> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

async function* chunksOf(source: Readable | Uint8Array, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  if (source instanceof Uint8Array) {
    yield source
    return
  }
  if (signal) addAbortSignal(signal, source)
  for await (const chunk of source) yield chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk))
}
