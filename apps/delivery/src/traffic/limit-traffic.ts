import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision, PlaybackKind, TokenVerification } from '@vitascope/playback-policy'
import type { ThrottleReports } from '@vitascope/rate-limit'
import type { DeliveryPath } from '../delivery-path.ts'
import type { DeliveryPolicy } from '../delivery-policy.ts'
import { sendProblem } from '../problem.ts'
import { shortHash } from '../short-hash.ts'
import type { TrafficLimits, TrafficRequest } from './traffic-limits.ts'

export interface TrafficParts {
  traffic: TrafficLimits
  isCrawler: (userAgent: string | undefined) => boolean
  throttled: Pick<ThrottleReports, 'add'>
}

/** A request that the playback policy allows. */
export interface AllowedRequest {
  policy: DeliveryPolicy
  requested: DeliveryPath
  kind: PlaybackKind
  address: string
  token: TokenVerification | undefined
  decision: Decision
  /** The page that requests the file. */
  page: { domain: string | undefined; isOwnPage: boolean }
}

/** Rejects a request that exceeds a limit of traffic, and returns true. Otherwise counts its response and returns false. */
export function limitTraffic(
  { traffic, isCrawler, throttled }: TrafficParts,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  allowed: AllowedRequest,
): boolean {
  const described = describeRequest(request, allowed, isCrawler(request.headers['user-agent']))
  const rejection = traffic.check(described)
  if (!rejection) {
    traffic.follow(described, response)
    return false
  }
  const { status, code, detail, headers, reason } = rejection
  if (reason !== undefined && described.videoId !== '') throttled.add(described.videoId, reason)
  const exposed = { 'Access-Control-Expose-Headers': 'RateLimit-Policy, Retry-After, X-Request-Id' }
  sendProblem(response, status, code, { ...exposed, ...headers }, detail)
  return true
}

function describeRequest({ method, headers }: IncomingMessage, allowed: AllowedRequest, isCrawler: boolean): TrafficRequest {
  const { policy, requested, kind, address, token } = allowed
  const isMaster = requested.file === policy.captions.masterPath
  // Programs that save or play an MP4 file load the rest in further ranges.
  const isFirstPart = (kind === 'mp4' || kind === 'download') && /^bytes=0-|^$/.test(headers.range ?? '')
  return {
    ...{ kind, address, videoId: policy.videoId, isCrawler, site: findSite(allowed) },
    tokenName: token && requested.token !== undefined ? shortHash(requested.token) : undefined,
    isStart: method === 'GET' && (isMaster || isFirstPart),
  }
}

/** Returns the site of a page that loads files without the player page. Viewers with a token, and sites that a rule allows, have no such limit. */
function findSite({ policy: { rules }, token, decision: { rule }, page }: AllowedRequest): string | undefined {
  if (token || page.isOwnPage || page.domain === undefined) return undefined
  const fired = rule && (rule.list === 'video' ? rules.videoRules : rules.organisationRules)[rule.index]
  const isAllowedSite = fired !== undefined && (fired.conditions.domains.length > 0 || fired.conditions.referrers.length > 0)
  return isAllowedSite ? undefined : page.domain
}
