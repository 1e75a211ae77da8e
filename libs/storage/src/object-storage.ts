import type { Readable } from 'node:stream'
import { DomainError } from '@vitascope/errors'

/**
 * Where an object's bytes come from. A `file` with `move` is given up by the caller: it is gone after a good put, and nothing
 * may write to it any more.
 */
export type ObjectSource = Readable | Uint8Array | { file: string; move?: boolean }

export interface PutOptions {
  /** Kept by stores that answer browsers themselves; the files store does not need it. */
  contentType?: string
  signal?: AbortSignal
}

export interface StoredBytes {
  bytes: number
  /** Lower-case hex. */
  sha256: string
}

/** Both ends inclusive, 0-based, as in HTTP. Without `end`: to the end of the object. `last`: that many bytes from its end. */
export type RangeRequest = { start: number; end?: number } | { last: number }

export interface ByteRange {
  start: number
  end: number
}

export interface OpenedObject {
  stream: Readable
  /** Of the whole object, whatever the range. */
  bytes: number
  modified: Date
  /** What the stream holds; undefined where no range was asked for. */
  range: ByteRange | undefined
}

export interface ObjectInfo {
  name: string
  bytes: number
  modified: Date
  /** The store's own checksum of the content, without quotes; only of stores that have one, and only from `stat`. */
  etag?: string
}

/**
 * Objects by immutable name: a name, once put, keeps its bytes until it is deleted, and is never visible in part.
 * Every function refuses a name or prefix that is not well formed (`BAD_OBJECT_NAME`).
 */
export interface ObjectStorage {
  /**
   * Durable when it returns. Putting the same bytes again changes nothing; other bytes under a taken name are refused
   * (`exists`, `OBJECT_EXISTS`). `unavailable`, `STORAGE_FULL` when there is no room.
   */
  put(name: string, source: ObjectSource, options?: PutOptions): Promise<StoredBytes>
  /** `not_found`, `OBJECT_NOT_FOUND`; a range that begins after the end, or is empty, is an `UnsatisfiableRange`. */
  open(name: string, options?: { range?: RangeRequest; signal?: AbortSignal }): Promise<OpenedObject>
  stat(name: string, signal?: AbortSignal): Promise<ObjectInfo | undefined>
  /** Every object below the prefix, by name in byte order. What comes or goes meanwhile may or may not be seen. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<ObjectInfo>
  /** The names of the folders directly below the prefix, in no order; none of the objects is looked at. */
  folders(prefix: string, signal?: AbortSignal): AsyncIterable<string>
  /** True when it was there. Streams that are open already read on. */
  delete(name: string, signal?: AbortSignal): Promise<boolean>
  /** How many there were. The empty prefix is refused: nothing empties a store by accident. */
  deletePrefix(prefix: string, signal?: AbortSignal): Promise<number>
  /**
   * Makes the object readable at a path of this machine, in place of any file there. It may be a link to the store's own copy:
   * read it, remove it, never write to it.
   */
  download(name: string, targetFile: string, signal?: AbortSignal): Promise<{ bytes: number }>
}

/** A range that the object cannot answer; `bytes` is its size, for `Content-Range: bytes *\/N`. */
export class UnsatisfiableRange extends DomainError {
  readonly bytes: number

  constructor(bytes: number) {
    super('invalid', 'RANGE_NOT_SATISFIABLE', 'the range lies outside of the object')
    this.name = 'UnsatisfiableRange'
    this.bytes = bytes
  }
}

/** The bytes that a range means in an object of that size; a range that reaches past the end is cut there. */
export function resolveRange(request: RangeRequest, bytes: number): ByteRange {
  const start = 'last' in request ? Math.max(0, bytes - request.last) : request.start
  const end = 'last' in request ? bytes - 1 : Math.min(request.end ?? bytes - 1, bytes - 1)
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) throw new UnsatisfiableRange(bytes)
  return { start, end }
}
