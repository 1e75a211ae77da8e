import type { IncomingMessage } from 'node:http'
import { refusal } from '../http/problem.ts'

const MOST_BYTES = 1024 * 1024

export function hasBody({ headers }: IncomingMessage): boolean {
  const declared = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (declared !== undefined && declared !== '0')
}

/**
 * The bytes of the body; undefined when there are none. Refuses with 413 what is larger than 1 MiB, without keeping it. `onBytes` is told
 * how many come.
 */
export function readBody(request: IncomingMessage, signal: AbortSignal, onBytes: (bytes: number) => void): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const stop = (settle: () => void) => {
      request.off('data', take).off('end', end).off('close', hangUp).off('error', hangUp)
      signal.removeEventListener('abort', cut)
      // A stream without this would end the process with an error that comes after the answer.
      request.on('error', () => {})
      settle()
    }
    const refuse = (reason: unknown) => {
      stop(() => reject(reason))
      // The rest goes by unread, until the time for a request is over.
      request.resume()
    }
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MOST_BYTES) return refuse(tooLarge())
      chunks.push(chunk)
      onBytes(chunk.length)
    }
    const end = () => stop(() => resolve(bytes === 0 ? undefined : Buffer.concat(chunks)))
    const hangUp = () => stop(() => reject(new DOMException('the caller hung up', 'AbortError')))
    const cut = () => refuse(signal.reason)
    request.on('data', take).on('end', end).on('close', hangUp).on('error', hangUp)
    signal.addEventListener('abort', cut)
  })
}

function tooLarge() {
  return refusal('invalid', 'PAYLOAD_TOO_LARGE', 'the body has more than 1 MiB')
}
