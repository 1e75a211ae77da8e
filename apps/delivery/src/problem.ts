import type { ServerResponse } from 'node:http'
import { REJECTIONS, type RejectionCode } from '@vitascope/playback-policy'

/** Titles and details of the problem documents of delivery, by code. */
export const PROBLEMS: Readonly<Record<string, [title: string, detail: string]>> = {
  not_found: ['Not Found', 'no such file: use the URLs in the response of GET /v2/video/{id}'],
  token_required: ['Forbidden', 'this video needs a token: create one with POST /v2/video/{id}/token'],
  token_malformed: ['Unauthorized', 'the token is not a JWT of at most 2,048 characters'],
  token_wrong_algorithm: ['Unauthorized', 'the algorithm in the header of the token is not that of its key'],
  token_unknown_key: ['Unauthorized', 'the key of the token does not exist, is not active, or belongs to another organisation'],
  token_bad_signature: ['Unauthorized', 'the signature of the token is wrong'],
  token_expired: ['Unauthorized', 'the token has expired: create a new one'],
  token_not_yet_valid: ['Unauthorized', 'the token is not valid yet: its claim nbf is in the future'],
  token_invalid_claim: ['Unauthorized', 'a claim of the token is missing or not valid'],
  token_wrong_video: ['Unauthorized', 'the token is valid for another video'],
  token_wrong_address: ['Unauthorized', 'the token is valid for another IP address only'],
  token_wrong_country: ['Unauthorized', 'the token is not valid in your country'],
  token_wrong_domain: ['Unauthorized', 'the token is not valid on the page that requests the video'],
  token_wrong_height: ['Forbidden', 'the token is not valid for pictures of this height'],
  token_wrong_kind: ['Forbidden', 'the token is not valid for this kind of file'],
  password_required: ['Forbidden', 'this video needs a password: exchange it for a token with POST /v2/video/{id}/access'],
  rule_refused: ['Forbidden', 'a rule of this video does not allow this request'],
  too_many_sessions: ['Forbidden', 'this video is already playing on as many devices as your access allows: stop it on one of them'],
  session_ended: ['Forbidden', 'this session was ended by the owner of the video'],
  address_refused: ['Forbidden', 'this video is not available from your IP address'],
  crawler_refused: ['Forbidden', 'crawlers get no media files'],
  site_paused: ['Too Many Requests', 'pages of this site start the video too often: try again later'],
  too_many_ranges: ['Range Not Satisfiable', 'a request may have at most 64 ranges'],
  method_not_allowed: ['Method Not Allowed', 'only GET and HEAD are allowed for files'],
  too_many_at_once: ['Too Many Requests', 'your address has the maximum number of concurrent downloads: wait until one of them has ended'],
  rate_limited: ['Too Many Requests', 'too many requests from this address; try again'],
  overloaded: ['Service Unavailable', 'too many requests are active; try again'],
  unavailable: ['Service Unavailable', 'the file is temporarily unavailable; try again'],
  internal: ['Internal Server Error', 'an internal error occurred; try again later'],
}

/**
 * Sends a problem document (application/problem+json, RFC 9457), which is never cached. `instance`
 * is a template, because file paths can contain tokens. `detail` replaces the text
 * of the code.
 */
export function sendProblem(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
  detail = PROBLEMS[code]?.[1] ?? '',
): void {
  const title = PROBLEMS[code]?.[0] ?? 'Error'
  response.removeHeader('ETag')
  response.writeHead(status, { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers })
  const request_id = response.getHeader('X-Request-Id')
  response.end(JSON.stringify({ type: `/docs#${code}`, title, status, detail, instance: '/delivery/{video_id}', code, request_id }))
}

/** Sends the rejection of a request. `message` is the text of the rule that denied it, `claim` the claim of its token. */
export function sendRejection(
  response: ServerResponse,
  { code, message, claim }: { code: RejectionCode; message?: string | undefined; claim?: string | undefined },
): void {
  const headers: Record<string, string> = REJECTIONS[code] === 401 ? { 'WWW-Authenticate': 'Bearer error="invalid_token"' } : {}
  const detail = code === 'token_invalid_claim' && claim !== undefined ? `the claim ${claim} of the token is missing or not valid` : message
  sendProblem(response, REJECTIONS[code], code, headers, detail || undefined)
}
