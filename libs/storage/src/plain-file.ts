import { constants, type FileHandle, open } from 'node:fs/promises'
import { DomainError } from '@vitascope/errors'
import { isErrno } from './disk.ts'
import type { FileSource, ObjectSource } from './object-storage.ts'

export interface OpenedSource {
  handle: FileHandle
  bytes: number
  /** Identifies the file on this machine. */
  dev: number
  ino: number
  close(): Promise<void>
}

/**
 * Opens the file of a source for reading, or uses the handle in `source`. `close` does not close
 * the handle of the caller. Throws `NOT_A_PLAIN_FILE` for a symbolic link, a FIFO, a device or a
 * folder. O_NONBLOCK prevents an open of a FIFO from waiting for a writer.
 */
export async function openSource({ file, handle: callerHandle }: FileSource): Promise<OpenedSource> {
  const handle = callerHandle ?? (await openWithoutLinks(file))
  const close = async () => {
    if (!callerHandle) await handle.close()
  }
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw notPlainFile()
    return { handle, bytes: stats.size, dev: stats.dev, ino: stats.ino, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Yields the bytes of an opened file from its start, in pieces of at most `pieceBytes`. Does not
 * use or change the descriptor's position.
 */
export async function* readPieces(
  { handle, bytes }: Pick<OpenedSource, 'handle' | 'bytes'>,
  pieceBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    signal?.throwIfAborted()
    // A small file needs only a small buffer.
    const length = Math.min(pieceBytes, Math.max(1, bytes - position))
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

export function isFileSource(source: ObjectSource): source is FileSource {
  return 'file' in source
}

export function fileReplaced(): DomainError {
  return new DomainError('invalid', 'FILE_REPLACED', 'the file was replaced while it was being stored')
}

function notPlainFile(cause?: unknown): DomainError {
  return new DomainError('invalid', 'NOT_A_PLAIN_FILE', 'only regular files can be stored; this is a link, a folder or a device', { cause })
}

async function openWithoutLinks(file: string): Promise<FileHandle> {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    // ELOOP: a symbolic link. ENXIO: a socket, or a device without a driver.
    throw isErrno(error, 'ELOOP', 'ENXIO') ? notPlainFile(error) : error
  }
}
