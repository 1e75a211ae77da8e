import type { ServerResponse } from 'node:http'
import type { RequestHandler, Response } from 'express'
import { respondToOptions } from './cors.ts'
import { domainError } from './problem.ts'
import { requestContext } from './request-context.ts'

/**
 * Serves a page outside of the route table. It supports GET, HEAD and OPTIONS, and is logged under
 * this template.
 */
export function page(template: string, handle: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const context = requestContext(response)
    context.template = template
    context.instance = () => template
    if (request.method === 'GET' || request.method === 'HEAD') return handle(request, response, next)
    if (request.method === 'OPTIONS') return respondToOptions(request, response, VERBS)
    response.setHeader('Allow', VERBS)
    throw domainError('failed_precondition', 'METHOD_NOT_ALLOWED', `this path allows ${VERBS}`)
  }
}

const VERBS = 'GET, HEAD, OPTIONS'

/**
 * Features that no page needs. Autoplay, fullscreen, picture-in-picture and encrypted media keep
 * the browser's default, so that an embedded player keeps what the `allow` attribute of its iframe
 * grants.
 */
const PERMISSIONS = ['camera', 'display-capture', 'geolocation', 'hid', 'microphone', 'midi', 'payment', 'serial', 'usb']
  .map((feature) => `${feature}=()`)
  .join(', ')

export function sendHtml(response: Response, html: string, policy: string): void {
  const bytes = Buffer.from(html)
  setPageHeaders(response, policy)
  response.setHeader('Content-Length', bytes.length)
  if (response.req.method === 'HEAD') response.end()
  else response.end(bytes)
}

/** Sets the headers of an HTML page, with its Content Security Policy. */
export function setPageHeaders(response: ServerResponse, policy: string): void {
  response.setHeader('Content-Type', 'text/html; charset=utf-8')
  response.setHeader('Content-Security-Policy', policy)
  // Page URLs may contain tokens in the query, so only the origin is sent. Delivery recognises our own pages by it.
  response.setHeader('Referrer-Policy', 'strict-origin')
  response.setHeader('Permissions-Policy', PERMISSIONS)
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
