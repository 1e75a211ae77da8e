import type { ServerResponse } from 'node:http'

const SENTENCES: Record<string, [title: string, detail: string]> = {
  not_found: ['Not Found', 'there is no such file: take its address from the video record'],
  token_required: ['Forbidden', 'this video needs a token: POST /v2/video/{id}/token makes one'],
  token_refused: ['Forbidden', 'the token is not valid for this video, or has expired: make a new one'],
  address_refused: ['Forbidden', 'this video may not be watched from this address'],
  method_not_allowed: ['Method Not Allowed', 'files can be read only'],
  unavailable: ['Service Unavailable', 'the file cannot be had just now: try again'],
  internal: ['Internal Server Error', 'something went wrong here'],
}

/** A refusal as application/problem+json (RFC 9457), never cached. `instance` is a template: paths of files hold tokens. */
export function refuse(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  const [title, detail] = SENTENCES[code] ?? ['Error', '']
  response.removeHeader('ETag')
  response.writeHead(status, { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers })
  const request_id = response.getHeader('X-Request-Id')
  response.end(JSON.stringify({ type: `/docs#${code}`, title, status, detail, instance: '/delivery/{video_id}', code, request_id }))
}
