import type { IncomingMessage } from 'node:http'
import { refusal } from '../http/problem.ts'

const MOST_BYTES = 1024 * 1024

export function hasBody({ headers }: IncomingMessage): boolean {
  const declared = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (declared !== undefined && declared !== '0')
}

export interface BodyReading {
  /** The bytes of the body; undefined when there are none. */
  bytes: Promise<Buffer | undefined>
  /** Reads no more, and has `bytes` refused with this. */
  refuse(reason: unknown): void
}

/** Refuses with 413 what is larger than 1 MiB, without keeping it. `onBytes` is told how many come. */
export function readBody(request: IncomingMessage, onBytes: (bytes: number) => void): BodyReading {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>()
  const chunks: Buffer[] = []
  let bytes = 0
  let reading = true
  const refuse = (reason: unknown) => {
    reading = false
    reject(reason)
    // The rest goes by unread, until the time for a request is over.
    request.resume()
  }
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) {
    reading = false
    reject(tooLarge())
    return { bytes: promise, refuse }
  }
  const hangUp = () => {
    reading = false
    reject(new DOMException('the caller hung up', 'AbortError'))
  }
  // They stay until the request is gone: an error that comes after the answer would else end the process.
  request
    .on('data', (chunk: Buffer) => {
      if (!reading) return
      bytes += chunk.length
      if (bytes > MOST_BYTES) return refuse(tooLarge())
      chunks.push(chunk)
      onBytes(chunk.length)
    })
    .on('end', () => {
      reading = false
      resolve(bytes === 0 ? undefined : wholeOf(chunks))
    })
    .on('close', () => reading && hangUp())
    .on('error', () => reading && hangUp())
  return { bytes: promise, refuse }
}

/** Most bodies come in one piece. */
function wholeOf(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}

function tooLarge() {
  return refusal('invalid', 'PAYLOAD_TOO_LARGE', 'the body has more than 1 MiB')
}
