import type { ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type ByteRange, type ObjectHandle, type ObjectStorage, type RangeRequest, resolveRange } from '@vitascope/storage'
import type { CachedObject, ObjectCache } from './object-cache.ts'

/** Bytes of one read and one write. Reads of 1 MiB have twice the throughput of reads of 64 KiB. */
const PIECE_BYTES = 1024 * 1024
/** Idle buffers of `PIECE_BYTES` that are kept for later responses. New buffers cost page faults and garbage collections. */
const MAX_IDLE_BUFFERS = 64

/** An object, or a range of it, that is ready to be sent. `send` or `discard` must be called. */
export interface OpenObject {
  /** Size of the complete object. */
  bytes: number
  modified: Date
  /** Undefined if no range was requested. */
  range: ByteRange | undefined
  /** Sends the bytes as the body of the response and ends it. Rejects if the read fails or `signal` aborts. */
  send(response: ServerResponse, signal: AbortSignal): Promise<void>
  discard(): Promise<void>
}

export interface ObjectReader {
  /** Throws `not_found` OBJECT_NOT_FOUND, and `UnsatisfiableRange`. */
  open(name: string, options: { range?: RangeRequest; signal: AbortSignal }): Promise<OpenObject>
}

/** Time limit of a read that fills the cache. */
const FILL_TIMEOUT_MS = 20_000

/**
 * Creates a reader of objects. A cached object costs one write. An object of a file store costs one read and one
 * write per MiB with a buffer that is used again. Any other object is streamed. Concurrent requests for an object
 * that will be cached share one read. If that read fails, each request reads the object itself.
 */
export function createObjectReader(storage: Pick<ObjectStorage, 'open' | 'openHandle'>, cache: ObjectCache): ObjectReader {
  const buffers: Buffer[] = []
  const fills = new Map<string, Promise<CachedObject | undefined>>()
  const fill = (name: string): Promise<CachedObject | undefined> => {
    const running = fills.get(name)
    if (running) return running
    const started = readForCache(storage, cache, name)
      .catch(() => undefined)
      .finally(() => fills.delete(name))
    fills.set(name, started)
    return started
  }
  return {
    async open(name, { range: requested, signal }) {
      const cached = cache.get(name) ?? (cache.isCandidate(name) ? await fill(name) : undefined)
      if (cached) return fromMemory(cached, requested)
      if (!storage.openHandle) return fromStream(await storage.open(name, { ...(requested && { range: requested }), signal }))
      const handle = await storage.openHandle(name, signal)
      try {
        return fromHandle(handle, requested && resolveRange(requested, handle.bytes), buffers)
      } catch (error) {
        await handle.close()
        throw error
      }
    },
  }
}

/** Reads an object completely and caches it. Returns undefined if the cache does not admit it. */
async function readForCache(
  storage: Pick<ObjectStorage, 'open' | 'openHandle'>,
  cache: ObjectCache,
  name: string,
): Promise<CachedObject | undefined> {
  // Not the signal of a client: other requests wait for the same read.
  const signal = AbortSignal.timeout(FILL_TIMEOUT_MS)
  const handle = await storage.openHandle?.(name, signal)
  if (handle) {
    try {
      if (!cache.admits(name, handle.bytes)) return undefined
      const content = Buffer.allocUnsafeSlow(handle.bytes)
      if ((await handle.read(content, 0)) !== content.length) throw new Error('an object became shorter while it was read')
      return cache.set(name, { content, modified: handle.modified })
    } finally {
      await handle.close()
    }
  }
  const { stream, bytes, modified } = await storage.open(name, { signal })
  if (cache.admits(name, bytes)) return cache.set(name, { content: await buffer(stream), modified })
  stream.destroy()
  return undefined
}

/** Creates a reader that streams every object. `open` reads no bytes, so it is cheap for HEAD. */
export function createStreamReader(storage: Pick<ObjectStorage, 'open'>): ObjectReader {
  return {
    open: async (name, { range, signal }) => fromStream(await storage.open(name, { ...(range && { range }), signal })),
  }
}

function fromMemory({ content, modified }: CachedObject, requested: RangeRequest | undefined): OpenObject {
  const range = requested && resolveRange(requested, content.length)
  return {
    bytes: content.length,
    modified,
    range,
    async send(response) {
      response.end(range ? content.subarray(range.start, range.end + 1) : content)
    },
    discard: async () => {},
  }
}

function fromStream({ stream, ...object }: Awaited<ReturnType<ObjectStorage['open']>>): OpenObject {
  return {
    ...object,
    send: (response, signal) => pipeline(stream, response, { signal }),
    async discard() {
      stream.destroy()
    },
  }
}

function fromHandle(handle: ObjectHandle, range: ByteRange | undefined, buffers: Buffer[]): OpenObject {
  const { bytes, modified } = handle
  return {
    bytes,
    modified,
    range,
    async send(response, signal) {
      const { start, end } = range ?? { start: 0, end: bytes - 1 }
      const reused = buffers.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
      try {
        for (let position = start; position <= end; ) {
          const piece = reused.subarray(0, Math.min(PIECE_BYTES, end + 1 - position))
          if ((await handle.read(piece, position)) !== piece.length) throw new Error('an object became shorter while it was sent')
          position += piece.length
          await write(response, piece, signal)
        }
        // After an error the buffer may still be in use by the connection.
        if (buffers.length < MAX_IDLE_BUFFERS) buffers.push(reused)
        response.end()
      } finally {
        await handle.close()
      }
    },
    discard: () => handle.close(),
  }
}

/** Resolves when the connection no longer needs the bytes. Rejects if the connection ends before. */
async function write(response: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    response.write(bytes, (error) => {
      signal.removeEventListener('abort', abort)
      if (error) reject(error)
      else resolve()
    })
  })
}
