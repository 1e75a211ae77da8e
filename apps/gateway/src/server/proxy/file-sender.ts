import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { type HttpService, type Principal, type PrincipalKeys, platformRequest, principalHeaders } from '@vitascope/grpc'
import type { Logger } from '@vitascope/telemetry'
import { domainError } from '../http/problem.ts'
import { parseRejection } from './upload-proxy.ts'

/**
 * Streams a file to encoding on behalf of a caller, and returns the headers of encoding's response. Rejects with
 * encoding's error, or with the error of the stream. Encoding then stores nothing.
 */
export type FileSender = (
  content: Readable,
  to: { path: string; principal: Principal; requestId: string; address: string },
) => Promise<IncomingHttpHeaders>

export function createFileSender({ to, principals, log }: { to: HttpService; principals: PrincipalKeys; log: Logger }): FileSender {
  return async (content, { path, principal, requestId, address }) => {
    const signed = await principalHeaders({ principal, requestId }, principals, 'encoding')
    return new Promise((resolve, reject) => {
      const onResponse = (incoming: IncomingMessage) => {
        const rejection = incoming.headers['vitascope-error']
        if (typeof rejection === 'string' || incoming.statusCode !== 204) {
          reject(typeof rejection === 'string' ? parseRejection(rejection) : new Error(`encoding responded with ${incoming.statusCode}`))
          // The header contains the complete error, so the rest of the file is not sent.
          outgoing.destroy()
          content.destroy()
        } else {
          incoming.resume().once('error', reject)
          incoming.once('end', () => resolve(incoming.headers))
        }
      }
      const headers = {
        ...signed,
        'x-forwarded-for': address,
        'content-type': 'application/octet-stream',
        // Otherwise encoding would close the connection after an error, and the rest of the file would reset it.
        connection: 'keep-alive',
      }
      const outgoing = platformRequest(to, path, { method: 'PUT', headers, agent: false }, onResponse)
      outgoing.on('error', (error) => {
        if (!content.destroyed) log.warn({ err: error, request_id: requestId }, 'sending a file to encoding failed')
        reject(content.errored ?? domainError('unavailable', 'SERVICE_UNAVAILABLE', 'uploads are temporarily unavailable; try again', 1))
        content.destroy()
      })
      const onContentError = (error: Error) => {
        reject(error)
        outgoing.destroy()
      }
      if (content.errored) onContentError(content.errored)
      else content.once('error', onContentError).pipe(outgoing)
    })
  }
}
