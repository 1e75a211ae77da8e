import type { ServerResponse } from 'node:http'
import type { Logger } from '@vitascope/telemetry'
import { exchangeOf } from './exchange.ts'
import { problemOf } from './problem.ts'

/** Answers a request whose answer was thrown. */
export type ProblemSender = (error: unknown, response: ServerResponse) => void

/** Turns whatever was thrown into a problem document, and logs what is our fault. */
export function problemSender({ publicUrl, log }: { publicUrl: () => string; log: Logger }): ProblemSender {
  return (error, response) => {
    const exchange = exchangeOf(response)
    const { problem, headers, fault } = problemOf(error, exchange, publicUrl())
    if (response.destroyed) return
    if (fault) log.error({ err: error, request_id: exchange.requestId, path: exchange.template }, 'a request failed')
    // Nobody is to take a part for all.
    if (response.headersSent) return void response.destroy()
    response.statusCode = problem.status
    sendJson(response, problem, headers)
  }
}

/** A JSON body under its own content type; HEAD gets the headers alone. */
export function sendJson(response: ServerResponse, body: object, headers: Readonly<Record<string, string>> = {}): void {
  sendJsonBytes(response, Buffer.from(JSON.stringify(body)), headers)
}

/** JSON that was made before: for what is large and always the same. */
export function sendJsonBytes(response: ServerResponse, bytes: Buffer, headers: Readonly<Record<string, string>> = {}): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.setHeader('Content-Length', bytes.length)
  if (response.req.method === 'HEAD') response.end()
  else response.end(bytes)
}
