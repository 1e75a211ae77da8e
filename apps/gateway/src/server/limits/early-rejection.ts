import type { IncomingMessage, ServerResponse } from 'node:http'
import { opensPage, sendErrorPage } from '../http/error-page.ts'
import { problemDocument } from '../http/problem.ts'
import { requestId } from '../http/request-context.ts'

/** A rejection before any other processing of a request. */
export interface EarlyRejection {
  status: 429 | 503
  code: string
  detail: string
  /** The path for the problem document. */
  instance: string
  /** Seconds. */
  retryAfter: number
  headers?: Readonly<Record<string, string>>
}

/** Answers a request with a problem document, or a browser with a page, at a small part of the cost of a real response. */
export function rejectEarly(
  request: IncomingMessage,
  response: ServerResponse,
  publicUrl: string,
  { status, code, detail, instance, retryAfter, headers }: EarlyRejection,
): void {
  const id = requestId(request)
  if (opensPage(request)) {
    response.statusCode = status
    const rejection = { 'Retry-After': String(retryAfter), 'X-Request-Id': id, 'X-Content-Type-Options': 'nosniff', ...headers }
    sendErrorPage(response, { status, code, request_id: id }, { 'Cache-Control': 'no-store', ...rejection })
    return
  }
  const body = JSON.stringify(problemDocument(publicUrl, { status, code, detail, instance, requestId: id }))
  response.writeHead(status, {
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'Retry-After': String(retryAfter),
    'X-Request-Id': id,
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}
