import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { addAbortSignal, Readable } from 'node:stream'
import { DomainError } from '@vitascope/errors'
import { type Disk, isErrno } from './disk.ts'
import type { ObjectSource, StoredBytes } from './object-storage.ts'

export interface ObjectWriter {
  write(path: string, source: ObjectSource, signal: AbortSignal | undefined): Promise<StoredBytes>
}

// Folders vanish when the last object in them is deleted, so a put may have to make its folder again.
const placingTries = 5

/**
 * Writes whole objects: bytes into a file aside, that file synced, linked under its name, the folder synced.
 * Until the link nothing is visible; after a crash only the file aside is left.
 */
export function createObjectWriter(disk: Disk, root: string, aside: string): ObjectWriter {
  const making = new Map<string, Promise<void>>()
  return { write }

  async function write(path: string, source: ObjectSource, signal: AbortSignal | undefined): Promise<StoredBytes> {
    const temporary = join(aside, randomUUID())
    try {
      signal?.throwIfAborted()
      const stored = (await adopt(source, temporary, signal)) ?? (await copy(source, temporary, signal))
      await place(temporary, path, stored, signal)
      if ('file' in source && source.move) await disk.remove(source.file)
      return stored
    } catch (error) {
      if (isErrno(error, 'ENOSPC', 'EDQUOT')) throw new DomainError('unavailable', 'STORAGE_FULL', 'the storage is full', { cause: error })
      throw error
    } finally {
      await disk.remove(temporary)
    }
  }

  /** Takes over a file that the caller gives up, where it lies on the same file system. */
  async function adopt(source: ObjectSource, temporary: string, signal: AbortSignal | undefined): Promise<StoredBytes | undefined> {
    if (!('file' in source) || !source.move || !(await lstat(source.file)).isFile()) return undefined
    try {
      await disk.link(source.file, temporary)
    } catch (error) {
      if (isErrno(error, 'EXDEV', ...withoutLinks)) return undefined
      throw error
    }
    const file = await disk.adopt(temporary)
    try {
      const stored = await hashFile(temporary, signal)
      await file.sync()
      return stored
    } finally {
      await file.close()
    }
  }

  async function copy(source: ObjectSource, temporary: string, signal: AbortSignal | undefined): Promise<StoredBytes> {
    const hash = createHash('sha256')
    let bytes = 0
    const file = await disk.create(temporary)
    try {
      for await (const chunk of chunksOf(source, signal)) {
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
      if (tries > 1 || !(await isMade(dirname(path)))) await makeFolders(dirname(path))
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
      if (await isThere(path)) throw Object.assign(new Error('taken'), { code: 'EEXIST' })
      await disk.rename(temporary, path)
    }
  }

  /** A folder counts once its entry in its parent is durable; whoever needs it meanwhile waits for that too. */
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

  /** Mostly the folder is there, with no link on the way; those who are making it, or one above it, are waited for. */
  async function isMade(folder: string): Promise<boolean> {
    const isHere = (await realpath(folder).catch(unlessGone)) === folder
    // Afterwards: what was seen to be there may be made by somebody whose entry is not durable yet.
    if (making.size > 0) for (let above = folder; above !== root; above = dirname(above)) await making.get(above)
    return isHere
  }

  async function makeFolder(folder: string): Promise<void> {
    try {
      if (await disk.makeFolder(folder)) await disk.syncFolder(dirname(folder))
    } catch (error) {
      if (isErrno(error, 'EEXIST', 'ENOTDIR')) throw taken(error)
      // The parent went away together with its last object; `place` begins again, and then finds the same in its link.
      if (!isErrno(error, 'ENOENT')) throw error
    }
  }
}

function unlessGone(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw error
}

// What file systems without hard links answer.
const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}

/** False where it went away meanwhile; other bytes are refused. */
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
  return new DomainError('exists', 'OBJECT_EXISTS', 'another object has this name, or a part of it', { cause })
}

async function hashFile(path: string, signal: AbortSignal | undefined): Promise<StoredBytes> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunksOf({ file: path }, signal)) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

async function* chunksOf(source: ObjectSource, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  if (source instanceof Uint8Array) {
    yield source
    return
  }
  const stream = source instanceof Readable ? source : createReadStream(source.file, { highWaterMark: 1 << 20 })
  if (signal) addAbortSignal(signal, stream)
  for await (const chunk of stream) yield chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk))
}
