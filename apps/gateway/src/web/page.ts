import type { RequestHandler, Response } from 'express'
import { answerOptions } from '../http/cors.ts'
import { exchangeOf } from '../http/exchange.ts'
import { refusal } from '../http/problem.ts'

/** A page outside the table: GET and HEAD only, and logged under this template. */
export function page(template: string, handle: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const exchange = exchangeOf(response)
    exchange.template = template
    exchange.instance = () => template
    if (request.method === 'GET' || request.method === 'HEAD') return handle(request, response, next)
    if (request.method === 'OPTIONS') return answerOptions(request, response, VERBS)
    response.setHeader('Allow', VERBS)
    throw refusal('refused', 'METHOD_NOT_ALLOWED', `this path takes ${VERBS}`)
  }
}

const VERBS = 'GET, HEAD, OPTIONS'

export function sendHtml(response: Response, html: string, policy: string): void {
  const bytes = Buffer.from(html)
  response.setHeader('Content-Type', 'text/html; charset=utf-8')
  response.setHeader('Content-Security-Policy', policy)
  response.setHeader('Content-Length', bytes.length)
  if (response.req.method === 'HEAD') response.end()
  else response.end(bytes)
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
