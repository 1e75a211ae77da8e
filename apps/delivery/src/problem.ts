import type { ServerResponse } from 'node:http'

const SENTENCES: Record<string, [title: string, detail: string]> = {
  not_found: ['Not Found', 'no such file: take its address from the video record'],
  token_required: ['Forbidden', 'this video needs a token: POST /v2/video/{id}/token makes one'],
  token_refused: ['Forbidden', 'the token is not valid for this video, or has expired: make a new one'],
  address_refused: ['Forbidden', 'this video may not be watched from this address'],
  method_not_allowed: ['Method Not Allowed', 'files can be read only'],
  too_many_at_once: ['Too Many Requests', 'your address is sent as many files at once as it may be: wait until one has ended'],
  unavailable: ['Service Unavailable', 'the file is temporarily unavailable; try again'],
  internal: ['Internal Server Error', 'something went wrong here'],
}

/**
 * Sends a problem document (application/problem+json, RFC 9457), which is never cached. `instance`
 * is a template, because file paths can contain tokens.
 */
export function refuse(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  const [title, detail] = SENTENCES[code] ?? ['Error', '']
  response.removeHeader('ETag')
  response.writeHead(status, { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers })
  const request_id = response.getHeader('X-Request-Id')
  response.end(JSON.stringify({ type: `/docs#${code}`, title, status, detail, instance: '/delivery/{video_id}', code, request_id }))
}
