import { Readable } from 'node:stream'
import { DomainError } from '@vitascope/errors'
import {
  type ByteRange,
  type ObjectStorage,
  type OpenedObject,
  type RangeRequest,
  resolveRange,
  UnsatisfiableRange,
} from './object-storage.ts'

/** Bounds of reads for clients that may receive the bytes slowly. */
export interface PiecewiseBounds {
  /** Maximum number of concurrent requests to the store. */
  maxRequests: number
  /**
   * Maximum time in ms that the first request of a read is queued. After it the read is rejected.
   */
  queueTimeoutMs: number
  /**
   * Maximum time in ms that later requests are queued. It is longer, because the client already has
   * a part of the object.
   */
  laterQueueTimeoutMs: number
  /** Maximum duration of one request to the store in ms. */
  requestTimeoutMs: number
  /** Number of bytes that one request reads. */
  pieceBytes: number
  /**
   * Maximum bytes of pieces that clients have not received. Beyond it, the piece that was read
   * least recently is dropped. It is requested again when its client continues.
   */
  maxBufferedBytes: number
}

export const DEFAULT_PIECEWISE_BOUNDS: PiecewiseBounds = {
  maxRequests: 48,
  queueTimeoutMs: 5_000,
  laterQueueTimeoutMs: 30_000,
  requestTimeoutMs: 30_000,
  pieceBytes: 1024 * 1024,
  maxBufferedBytes: 64 * 1024 * 1024,
}

/** Values of `PiecewiseReads` for metrics. */
export interface PiecewiseState {
  /** Current requests to the store. */
  active: number
  /** Queued requests. */
  waiting: number
  /** Bytes that were read from the store and not yet received by clients. */
  bufferedBytes: number
}

export interface PiecewiseReads {
  /**
   * Opens an object like `ObjectStorage.open`, but requests it in pieces. Each piece is read
   * completely and without pauses, so a slow client occupies no connection to the store. If the
   * object is deleted meanwhile, the stream fails. Throws `unavailable` STORAGE_BUSY if a request
   * cannot start or end within its bound. The stream can fail with it too.
   */
  open(name: string, options?: { range?: RangeRequest; signal?: AbortSignal }): Promise<OpenedObject>
  state(): PiecewiseState
}

/**
 * Minimum size of a piece. A client whose piece was dropped is slow and gets smaller pieces from
 * then on.
 */
const MIN_PIECE_BYTES = 128 * 1024

export function createPiecewiseReads(
  storage: ObjectStorage,
  bounds: PiecewiseBounds = DEFAULT_PIECEWISE_BOUNDS,
  onReject: () => void = () => {},
): PiecewiseReads {
  const requestQueue = createRequestQueue(bounds, onReject)
  const buffer = createPieceBuffer(bounds.maxBufferedBytes)

  /** Sends one request and reads its response completely. */
  const request = async (name: string, range: RangeRequest, queueTimeoutMs: number, signal: AbortSignal | undefined) => {
    const endRequest = await requestQueue.begin(queueTimeoutMs, signal)
    const timeout = AbortSignal.timeout(bounds.requestTimeoutMs)
    try {
      const anySignal = signal ? AbortSignal.any([signal, timeout]) : timeout
      const object = await storage.open(name, { range, signal: anySignal })
      const buffers: Buffer[] = []
      for await (const chunk of object.stream.on('error', () => {}) as AsyncIterable<Buffer>) {
        buffers.push(chunk)
        if (anySignal.aborted) object.stream.destroy()
      }
      anySignal.throwIfAborted()
      return { object, buffers }
    } catch (error) {
      if (timeout.aborted && !signal?.aborted) throw storageBusy('the object store is too slow: try again', error)
      throw error
    } finally {
      endRequest()
    }
  }

  return {
    state: () => ({ ...requestQueue.state(), bufferedBytes: buffer.bytes() }),
    async open(name, { range: requested, signal } = {}) {
      const start = requested && 'start' in requested ? requested.start : 0
      const isSuffix = requested !== undefined && 'last' in requested
      // The end of a suffix range depends on the size, which is not known yet.
      const first = isSuffix && requested.last > bounds.pieceBytes ? undefined : firstPiece(requested, start, bounds.pieceBytes)
      if (!first) {
        const info = await storage.stat(name, signal)
        if (!info) throw new DomainError('not_found', 'OBJECT_NOT_FOUND', `no object ${name}`)
        const range = resolveRange(requested as RangeRequest, info.bytes)
        return openPieces({ name, range, bytes: info.bytes, modified: info.modified, buffers: [], isPartial: true, signal })
      }
      try {
        const { object, buffers } = await request(name, first, bounds.queueTimeoutMs, signal)
        const range = requested ? resolveRange(requested, object.bytes) : { start: 0, end: object.bytes - 1 }
        return openPieces({
          name,
          range,
          bytes: object.bytes,
          modified: object.modified,
          buffers,
          isPartial: requested !== undefined,
          signal,
        })
      } catch (error) {
        // An empty object has no range.
        if (requested || !(error instanceof UnsatisfiableRange)) throw error
        return storage.open(name, { ...(signal && { signal }) })
      }
    },
  }

  function openPieces(read: {
    name: string
    range: ByteRange
    bytes: number
    modified: Date
    buffers: Buffer[]
    isPartial: boolean
    signal: AbortSignal | undefined
  }): OpenedObject {
    const { bytes, modified, range } = read
    const stream = Readable.from(readPieces(read), { objectMode: false })
    return { stream, bytes, modified, range: read.isPartial ? range : undefined }
  }

  async function* readPieces({ name, range, buffers, signal }: Parameters<typeof openPieces>[0]): AsyncGenerator<Buffer> {
    const piece = buffer.addPiece(buffers)
    let pieceBytes = bounds.pieceBytes
    try {
      for (let position = range.start; position <= range.end; ) {
        if (piece.wasDropped()) pieceBytes = Math.max(MIN_PIECE_BYTES, Math.floor(pieceBytes / 2))
        let chunk = piece.nextChunk()
        if (!chunk) {
          const end = Math.min(range.end, position + pieceBytes - 1)
          piece.fill((await request(name, { start: position, end }, bounds.laterQueueTimeoutMs, signal)).buffers)
          chunk = piece.nextChunk()
        }
        if (!chunk) throw new Error(`the object store returned no bytes of ${name} from ${position} on`)
        position += chunk.length
        yield chunk
      }
    } finally {
      piece.end()
    }
  }
}

function firstPiece(requested: RangeRequest | undefined, start: number, pieceBytes: number): RangeRequest {
  if (requested && 'last' in requested) return requested
  const end = start + pieceBytes - 1
  return { start, end: requested?.end === undefined ? end : Math.min(requested.end, end) }
}

/** Creates a queue that starts requests to the store in the order of their arrival. */
function createRequestQueue({ maxRequests }: PiecewiseBounds, onReject: () => void) {
  const queue = new Set<() => void>()
  let active = 0
  const end = () => {
    active -= 1
    const [next] = queue
    if (!next) return
    queue.delete(next)
    next()
  }
  return {
    state: () => ({ active, waiting: queue.size }),
    async begin(queueTimeoutMs: number, signal: AbortSignal | undefined): Promise<() => void> {
      signal?.throwIfAborted()
      if (active >= maxRequests) {
        await new Promise<void>((resolve, reject) => {
          const rejectQueued = (error: unknown) => {
            queue.delete(start)
            clearTimeout(timer)
            signal?.removeEventListener('abort', onAbort)
            reject(error)
          }
          const onAbort = () => rejectQueued(signal?.reason)
          const timer = setTimeout(() => {
            onReject()
            rejectQueued(storageBusy('too many files are being read from the object store: try again'))
          }, queueTimeoutMs)
          const start = () => {
            clearTimeout(timer)
            signal?.removeEventListener('abort', onAbort)
            resolve()
          }
          signal?.addEventListener('abort', onAbort, { once: true })
          queue.add(start)
        })
      }
      active += 1
      return end
    },
  }
}

/**
 * Creates a buffer for the unread parts of the pieces of all clients, in the order of their last
 * read.
 */
function createPieceBuffer(maxBytes: number) {
  interface BufferedPiece {
    buffers: Buffer[]
    bytes: number
    dropped: boolean
  }
  const unread = new Set<BufferedPiece>()
  let bytes = 0
  const add = (piece: BufferedPiece, change: number) => {
    piece.bytes += change
    bytes += change
  }
  const drop = (piece: BufferedPiece) => {
    piece.buffers = []
    add(piece, -piece.bytes)
    unread.delete(piece)
  }
  return {
    bytes: () => bytes,
    addPiece(buffers: Buffer[]) {
      const piece: BufferedPiece = { buffers: [], bytes: 0, dropped: false }
      const fill = (newBuffers: Buffer[]) => {
        piece.buffers = newBuffers
        add(
          piece,
          newBuffers.reduce((sum, { length }) => sum + length, 0),
        )
        unread.add(piece)
        for (const leastRecent of unread) {
          if (bytes <= maxBytes || leastRecent === piece) break
          drop(leastRecent)
          leastRecent.dropped = true
        }
      }
      fill(buffers)
      return {
        fill,
        /** Returns the next bytes; undefined if the piece is consumed or was dropped. */
        nextChunk(): Buffer | undefined {
          const chunk = piece.buffers.shift()
          if (chunk) {
            add(piece, -chunk.length)
            unread.delete(piece)
            if (piece.buffers.length > 0) unread.add(piece)
          }
          return chunk
        },
        /** Returns true once after each drop of the piece. */
        wasDropped(): boolean {
          const { dropped } = piece
          piece.dropped = false
          return dropped
        },
        end: () => drop(piece),
      }
    },
  }
}

function storageBusy(message: string, cause?: unknown): DomainError {
  return new DomainError('unavailable', 'STORAGE_BUSY', message, { retryAfter: 1, cause })
}
