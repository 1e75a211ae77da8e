import type { Logger } from '@vitascope/telemetry'
import type { ErrorRequestHandler, Response } from 'express'
import { exchangeOf } from './exchange.ts'
import { problemOf } from './problem.ts'

/** The last of the chain: turns whatever was thrown into a problem document, and logs what is our fault. */
export function sendProblems({ publicUrl, log }: { publicUrl: () => string; log: Logger }): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    const exchange = exchangeOf(response)
    const { problem, headers, fault } = problemOf(error, exchange, publicUrl())
    if (response.destroyed) return
    if (fault) log.error({ err: error, request_id: exchange.requestId, path: exchange.template }, 'a request failed')
    if (response.headersSent) return next(error)
    response.status(problem.status)
    sendJson(response, problem, headers)
  }
}

/** A JSON body under its own content type; HEAD gets the headers alone. */
export function sendJson(response: Response, body: object, headers: Readonly<Record<string, string>> = {}): void {
  sendJsonBytes(response, Buffer.from(JSON.stringify(body)), headers)
}

/** JSON that was made before: for what is large and always the same. */
export function sendJsonBytes(response: Response, bytes: Buffer, headers: Readonly<Record<string, string>> = {}): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeaders(new Map(Object.entries({ ...headers, 'Content-Length': String(bytes.length) })))
  if (response.req.method === 'HEAD') response.end()
  else response.end(bytes)
}
