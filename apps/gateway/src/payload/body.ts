import type { IncomingMessage } from 'node:http'
import { refusal } from '../http/problem.ts'

const MOST_BYTES = 1024 * 1024

/** The bytes of the body; undefined when there are none. Refuses with 413 what is larger than 1 MiB, without keeping it. */
export function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const declared = request.headers['content-length']
  if (declared !== undefined && Number(declared) > MOST_BYTES) return Promise.reject(tooLarge())
  if (request.headers['transfer-encoding'] === undefined && (declared === undefined || declared === '0')) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const stop = (settle: () => void) => {
      request.off('data', take).off('end', end).off('close', hangUp).off('error', hangUp)
      // A stream without this would end the process with an error that comes after the answer.
      request.on('error', () => {})
      settle()
    }
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= MOST_BYTES) chunks.push(chunk)
      else {
        stop(() => reject(tooLarge()))
        // The rest goes by unread, until the time for a request is over.
        request.resume()
      }
    }
    const end = () => stop(() => resolve(bytes === 0 ? undefined : Buffer.concat(chunks)))
    const hangUp = () => stop(() => reject(new DOMException('the caller hung up', 'AbortError')))
    request.on('data', take).on('end', end).on('close', hangUp).on('error', hangUp)
  })
}

function tooLarge() {
  return refusal('invalid', 'PAYLOAD_TOO_LARGE', 'the body has more than 1 MiB')
}
