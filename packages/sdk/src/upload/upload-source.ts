import { invalidArgument, VitascopeError } from '../error.ts'

/** Bytes of a file or stream, read in order. */
export interface UploadSource {
  /** Size in bytes. Undefined for a stream. */
  size: number | undefined
  /** File name, if the source has one. */
  filename: string | undefined
  /**
   * Returns at most `maxBytes` from `offset`, and fewer only at the end. A stream can return only the
   * bytes of the last call, and later ones.
   */
  read(offset: number, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer> | Blob>
  /** Releases the file or the stream. */
  close(): Promise<void>
}

/**
 * What `upload` accepts. In Node.js also the path of a file as a text, or as a `file:` URL. An `http:`
 * or `https:` URL is fetched by the platform.
 */
export type UploadInput =
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | URL
  | string
  | UploadSource

/** Returns a source of everything except paths. Throws `invalid_argument` for another value. */
export function toUploadSource(input: Exclude<UploadInput, URL | string>): UploadSource {
  if (input instanceof Blob) return fromBlob(input)
  if (input instanceof ArrayBuffer) return fromBlob(new Blob([input]))
  if (input instanceof Uint8Array) return fromBlob(new Blob([input as Uint8Array<ArrayBuffer>]))
  if (typeof input === 'object' && input !== null) {
    if (Symbol.asyncIterator in input || 'getReader' in input) return fromStream(input as ReadableStream<Uint8Array>)
    if ('read' in input && 'close' in input) return input
  }
  throw invalidArgument('The source of an upload must be a file, a Blob, bytes or a stream of bytes.')
}

/** The bytes of a Blob are read when they are sent. */
function fromBlob(blob: Blob): UploadSource {
  return {
    size: blob.size,
    filename: 'name' in blob && typeof blob.name === 'string' ? blob.name : undefined,
    read: async (offset, maxBytes) => blob.slice(offset, offset + maxBytes),
    close: async () => {},
  }
}

/** Keeps the bytes that are not stored by the platform yet, so that a broken request can be repeated. */
function fromStream(stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): UploadSource {
  const chunks = iterate(stream)
  /** Received bytes from `start` on. */
  let buffered: Uint8Array[] = []
  let start = 0
  let end = 0
  const dropUntil = (offset: number) => {
    for (let first = buffered[0]; first && start < offset; first = buffered[0]) {
      const dropped = Math.min(first.length, offset - start)
      if (dropped === first.length) buffered.shift()
      else buffered[0] = first.subarray(dropped)
      start += dropped
    }
  }
  return {
    size: undefined,
    filename: undefined,
    async read(offset, maxBytes, signal) {
      if (offset < start) {
        throw new VitascopeError('The platform lost bytes that the stream cannot repeat. Upload the stream from its start.', {
          code: 'source_changed',
        })
      }
      dropUntil(offset)
      while (end < offset + maxBytes) {
        signal?.throwIfAborted()
        const { done, value } = await chunks.next()
        if (done) break
        if (!(value instanceof Uint8Array)) throw invalidArgument('A stream of an upload must contain bytes (Uint8Array).')
        // A stream may reuse the memory of its chunks.
        buffered.push(value.slice())
        end += value.length
        dropUntil(offset)
      }
      return concatenate(buffered, maxBytes)
    },
    close: async () => {
      buffered = []
      await chunks.return?.()
    },
  }
}

function concatenate(chunks: readonly Uint8Array[], maxBytes: number): Uint8Array<ArrayBuffer> {
  const size = Math.min(
    maxBytes,
    chunks.reduce((sum, { length }) => sum + length, 0),
  )
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    if (at >= size) break
    const part = chunk.subarray(0, size - at)
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** `ReadableStream` has no async iterator in all browsers. */
function iterate(stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): AsyncIterator<Uint8Array> {
  if (!('getReader' in stream)) return stream[Symbol.asyncIterator]()
  const reader = stream.getReader()
  return {
    next: async () => (await reader.read()) as IteratorResult<Uint8Array>,
    return: async () => {
      await reader.cancel()
      return { done: true, value: undefined }
    },
  }
}
