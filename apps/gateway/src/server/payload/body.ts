import type { IncomingMessage } from 'node:http'
import { domainError } from '../http/problem.ts'

const MAX_BYTES = 1024 * 1024

export function hasBody({ headers }: IncomingMessage): boolean {
  const declared = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (declared !== undefined && declared !== '0')
}

export interface BodyReading {
  /** Resolves with the bytes of the body, or undefined if it is empty. */
  bytes: Promise<Buffer | undefined>
  /** Stops reading and rejects `bytes` with this reason. */
  abort(reason: unknown): void
}

/**
 * Reads a body. `bytes` rejects with 413 above 1 MiB, without buffering the excess. `onBytes`
 * receives the size of each chunk.
 */
export function readBody(request: IncomingMessage, onBytes: (bytes: number) => void): BodyReading {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>()
  const chunks: Buffer[] = []
  let bytes = 0
  let isReading = true
  const abort = (reason: unknown) => {
    isReading = false
    reject(reason)
    // The rest is discarded until the time limit of the request.
    request.resume()
  }
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) {
    isReading = false
    reject(tooLarge())
    return { bytes: promise, abort }
  }
  const onDisconnect = () => {
    isReading = false
    reject(new DOMException('the client disconnected', 'AbortError'))
  }
  // The listeners stay until the request is gone, because an error event after the response would
  // otherwise end the process.
  request
    .on('data', (chunk: Buffer) => {
      if (!isReading) return
      bytes += chunk.length
      if (bytes > MAX_BYTES) return abort(tooLarge())
      chunks.push(chunk)
      onBytes(chunk.length)
    })
    .on('end', () => {
      isReading = false
      resolve(bytes === 0 ? undefined : concatChunks(chunks))
    })
    .on('close', () => isReading && onDisconnect())
    .on('error', () => isReading && onDisconnect())
  return { bytes: promise, abort }
}

/**
 * Reads and discards the rest of a rejected body, for at most `timeoutMs`. Clients that are still sending when the connection
 * is closed do not read the response.
 */
export async function discardBody(request: IncomingMessage, timeoutMs: number): Promise<void> {
  if (request.complete || request.destroyed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeoutMs)
  request
    .once('end', resolve)
    .once('close', resolve)
    .once('error', () => resolve())
    .resume()
  await promise
  clearTimeout(timer)
}

/** Avoids a copy in the usual case of one chunk. */
function concatChunks(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}

function tooLarge() {
  return domainError('invalid', 'PAYLOAD_TOO_LARGE', 'the body has more than 1 MiB')
}
