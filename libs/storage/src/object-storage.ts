import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { DomainError } from '@vitascope/errors'

/** Source of the bytes of an object. */
export type ObjectSource = Readable | Uint8Array | FileSource

export interface FileSource {
  /**
   * Path of a plain file. `put` opens it without following a symbolic link and throws
   * `NOT_A_PLAIN_FILE` for other file types.
   */
  file: string
  /**
   * `put` moves the file: it is deleted on success. The caller must not write to it after the call.
   */
  move?: boolean
  /**
   * Descriptor of the file, for paths that another program can change. The bytes are read from this
   * descriptor only, and `put` throws `FILE_REPLACED` if `file` refers to another file when it is
   * moved. The caller closes it.
   */
  handle?: FileHandle
}

export interface PutOptions {
  /** Content type for stores that serve browsers directly. The file store ignores it. */
  contentType?: string
  signal?: AbortSignal
}

export interface StoredBytes {
  bytes: number
  /** Lower-case hex. */
  sha256: string
}

/**
 * A range of bytes as in HTTP: positions start at 0, and `end` is included. Without `end`, the
 * range extends to the end of the object. `last` is the number of bytes at the end of the object.
 */
export type RangeRequest = { start: number; end?: number } | { last: number }

/** A range within an object. Both positions are included. */
export interface ByteRange {
  start: number
  end: number
}

export interface OpenedObject {
  stream: Readable
  /** Size of the complete object, also if a range was requested. */
  bytes: number
  modified: Date
  /** Range of the stream; undefined if no range was requested. */
  range: ByteRange | undefined
}

/** An open object whose bytes are read into buffers of the caller. */
export interface ObjectHandle {
  bytes: number
  modified: Date
  /**
   * Reads from `position` into the buffer until it is full or the object ends. Returns the number
   * of bytes read. The handle must not be closed meanwhile.
   */
  read(buffer: Buffer, position: number): Promise<number>
  close(): Promise<void>
}

export interface ObjectInfo {
  name: string
  bytes: number
  modified: Date
  /**
   * Checksum of the content in the format of the store, without quotes. Only `stat` returns it, and
   * only for stores that have one.
   */
  etag?: string
}

/**
 * Objects with immutable names: the bytes of a name do not change until it is deleted, and an
 * object is never partially visible. Every function throws `BAD_OBJECT_NAME` for a malformed name
 * or prefix.
 */
export interface ObjectStorage {
  /**
   * Stores an object durably. Storing the same bytes again changes nothing. Throws `exists`
   * OBJECT_EXISTS if the name has other bytes, and `unavailable` STORAGE_FULL if there is no space
   * left.
   */
  put(name: string, source: ObjectSource, options?: PutOptions): Promise<StoredBytes>
  /**
   * Opens an object. Throws `not_found` OBJECT_NOT_FOUND, and `UnsatisfiableRange` for a range that
   * is empty or starts after the end.
   */
  open(name: string, options?: { range?: RangeRequest; signal?: AbortSignal }): Promise<OpenedObject>
  /**
   * Opens an object for reads at any position. Only stores of files have it. The caller closes the
   * handle. Throws `not_found` OBJECT_NOT_FOUND.
   */
  openHandle?(name: string, signal?: AbortSignal): Promise<ObjectHandle>
  /** Returns an object without its content, or undefined if it does not exist. */
  stat(name: string, signal?: AbortSignal): Promise<ObjectInfo | undefined>
  /**
   * Yields all objects below the prefix, in byte order of their names. Concurrent changes may or
   * may not be included.
   */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<ObjectInfo>
  /**
   * Yields the names of the folders directly below the prefix, in no order, without reading
   * objects.
   */
  folders(prefix: string, signal?: AbortSignal): AsyncIterable<string>
  /** Deletes an object. Returns whether it existed. Open streams can still be read. */
  delete(name: string, signal?: AbortSignal): Promise<boolean>
  /**
   * Deletes all objects below the prefix and returns their number. Throws for an empty prefix, so
   * that a store is not emptied by accident.
   */
  deletePrefix(prefix: string, signal?: AbortSignal): Promise<number>
  /**
   * Makes the object readable at a local path and replaces any file there. It may be a hard link to
   * the store's own copy: it may be read and deleted, but never written.
   */
  download(name: string, targetFile: string, signal?: AbortSignal): Promise<{ bytes: number }>
}

/** Thrown for a range that the object cannot satisfy. `bytes` is the size of the object. */
export class UnsatisfiableRange extends DomainError {
  readonly bytes: number

  constructor(bytes: number) {
    super('invalid', 'RANGE_NOT_SATISFIABLE', 'the range is outside of the object')
    this.name = 'UnsatisfiableRange'
    this.bytes = bytes
  }
}

/**
 * Returns the positions of a range in an object of this size. A range beyond the end is cut at the
 * end. Throws `UnsatisfiableRange`.
 */
export function resolveRange(request: RangeRequest, bytes: number): ByteRange {
  const start = 'last' in request ? Math.max(0, bytes - request.last) : request.start
  const end = 'last' in request ? bytes - 1 : Math.min(request.end ?? bytes - 1, bytes - 1)
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) throw new UnsatisfiableRange(bytes)
  return { start, end }
}
