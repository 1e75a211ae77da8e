import type { ServerResponse } from 'node:http'
import type { PlaybackKind } from '@vitascope/playback-policy'
import { downloadProgress } from '@vitascope/process'
import { createTokenBuckets, type Limits, type ThrottleReason, type TokenBuckets } from '@vitascope/rate-limit'
import { addressGroups } from '@vitascope/security'
import type { Metrics } from '@vitascope/telemetry'
import { LRUCache } from 'lru-cache'

/** Bytes of responses that last longer are counted at this interval, and the others at their end. */
const COUNT_EVERY_MS = 1_000
/** A response that the client aborts costs at least this many bytes, or its length, because the storage has read them. */
const ABORTED_BYTES = 1024 * 1024
/** Pages of a site that exceeded the limit of a video, and crawlers that did, are rejected for this time. */
const PAUSE_MS = 60_000
const MAX_PAUSES = 10_000
/** Burst of the limits of bytes, in seconds of their rate. */
const BURST_SECONDS = 10
/** Files that crawlers do not get. */
const MEDIA: ReadonlySet<PlaybackKind> = new Set(['segment', 'mp4', 'download'])

/** A request that the playback policy allows. */
export interface TrafficRequest {
  kind: PlaybackKind
  address: string
  /** Empty for files that belong to no video. */
  videoId: string
  /** Identifies the token of the request; undefined without one. */
  tokenName: string | undefined
  /** Site of another page that loads the file without the player page; undefined if there is none, or if a rule allows it. */
  site: string | undefined
  isCrawler: boolean
  /** True for the first request of a playback or download. */
  isStart: boolean
}

/** Why a request is rejected. */
export interface TrafficRejection {
  status: 403 | 429
  code: 'rate_limited' | 'crawler_refused' | 'site_paused'
  /** Text for the client. */
  detail: string
  headers: Readonly<Record<string, string>>
  /** For the event of the video; undefined for rejections that are not reported. */
  reason: ThrottleReason | undefined
}

export interface TrafficLimits {
  /** Returns the rejection of a request, or undefined. A start that is allowed is counted. */
  check(request: TrafficRequest): TrafficRejection | undefined
  /** Counts the bytes of an allowed response, and the request as active until it ends. */
  follow(request: TrafficRequest, response: ServerResponse): void
  close(): void
}

const SCOPES = ['address', 'token', 'video'] as const
type Scope = (typeof SCOPES)[number]

interface ScopeLimits {
  bytes: TokenBuckets
  starts: TokenBuckets
  active: Map<string, number>
  maxActive: number
}

interface Followed {
  names: Names
  bytes: () => number
  counted: number
}
type Names = Readonly<Record<Scope, string | undefined>>

/**
 * Limits bytes, starts and active requests per address (IPv6: per /64), per token and per video, starts by pages of other sites, and
 * requests of crawlers. Each process counts for itself. A request costs about ten lookups in memory.
 */
export function createTrafficLimits(limits: Limits | 'off', metrics: Metrics): TrafficLimits {
  if (limits === 'off') return { check: () => undefined, follow: () => {}, close: () => {} }
  const rejections = metrics.counter(
    'vitascope_delivery_traffic_rejected_total',
    'Requests for files that a limit of traffic rejected, by policy',
    ['policy'],
  )
  const scopes: Readonly<Record<Scope, ScopeLimits>> = {
    address: scopeLimits(limits.address_mb, limits.address_starts, Number.POSITIVE_INFINITY),
    token: scopeLimits(limits.token_mb, limits.token_starts, limits.token_at_once),
    video: scopeLimits(limits.video_mb, limits.video_starts, limits.video_at_once),
  }
  const siteStarts = perMinute(limits.site_starts)
  const crawlerRequests = perMinute(limits.crawler_requests)
  const pauses = new LRUCache<string, true>({ max: MAX_PAUSES, ttl: PAUSE_MS })
  const followed = new Set<Followed>()
  const count = (response: Followed) => {
    const bytes = response.bytes()
    charge(response.names, bytes - response.counted)
    response.counted = bytes
  }
  const charge = (names: Names, bytes: number) => {
    if (bytes <= 0) return
    for (const scope of SCOPES) {
      const name = names[scope]
      if (name !== undefined) scopes[scope].bytes.take(name, bytes)
    }
  }
  const timer = setInterval(() => {
    for (const response of followed) count(response)
  }, COUNT_EVERY_MS).unref()

  const reject = (policy: string, seconds: number, rejection: Omit<TrafficRejection, 'headers' | 'status'>): TrafficRejection => {
    rejections.inc({ policy })
    const retryAfter = String(Math.max(1, Math.ceil(seconds)))
    return { ...rejection, status: 429, headers: { 'Retry-After': retryAfter, 'RateLimit-Policy': `"${policy}"` } }
  }
  /** Returns the rejection of pages of a site, or of crawlers, whose limit for a video is exceeded. */
  const checkPaused = (
    { name, buckets, counts }: { name: string; buckets: TokenBuckets; counts: boolean },
    rejection: (seconds: number) => TrafficRejection,
  ): TrafficRejection | undefined => {
    if (pauses.has(name)) return rejection(pauses.getRemainingTTL(name) / 1_000)
    if (!counts) return undefined
    if (buckets.wait(name) > 0) {
      pauses.set(name, true)
      return rejection(PAUSE_MS / 1_000)
    }
    buckets.take(name, 1)
    return undefined
  }
  const checkCrawler = ({ kind, videoId }: TrafficRequest) => {
    if (MEDIA.has(kind)) {
      rejections.inc({ policy: 'crawler' })
      const detail = 'crawlers get the page, playlists, pictures and captions of a video, and no media files'
      return { status: 403, code: 'crawler_refused', detail, headers: {}, reason: undefined } as const
    }
    return checkPaused({ name: `${videoId} `, buckets: crawlerRequests, counts: true }, (seconds) =>
      reject('crawler_requests', seconds, {
        code: 'rate_limited',
        detail: 'too many requests of crawlers for this video',
        reason: 'crawlers',
      }),
    )
  }
  const checkSite = ({ videoId, isStart }: TrafficRequest, site: string) =>
    checkPaused({ name: `${videoId} ${site}`, buckets: siteStarts, counts: isStart }, (seconds) => {
      const detail = `pages of ${site} start this video too often: the owner can allow the site by a playback rule`
      return reject('site_starts', seconds, { code: 'site_paused', detail, reason: { site } })
    })
  const checkScope = (scope: Scope, name: string, isStart: boolean): TrafficRejection | undefined => {
    const { bytes, starts, active, maxActive } = scopes[scope]
    const rejectBecause = (policy: string, seconds: number, what: string) =>
      reject(policy, seconds, { code: 'rate_limited', detail: `too many ${what} ${SCOPE_TEXTS[scope]}: try again later`, reason: scope })
    const wait = bytes.wait(name)
    if (wait > 0) return rejectBecause(`${scope}_bytes`, wait, 'bytes')
    if ((active.get(name) ?? 0) >= maxActive) return rejectBecause(`${scope}_at_once`, 1, 'active requests')
    const startWait = isStart ? starts.wait(name) : 0
    return startWait > 0 ? rejectBecause(`${scope}_starts`, startWait, 'starts') : undefined
  }

  return {
    check(request) {
      const { site, isCrawler, isStart } = request
      const special = isCrawler ? checkCrawler(request) : site === undefined ? undefined : checkSite(request, site)
      if (special) return special
      const names = namesOf(request)
      for (const scope of SCOPES) {
        const name = names[scope]
        const rejection = name === undefined ? undefined : checkScope(scope, name, isStart)
        if (rejection) return rejection
      }
      if (isStart) for (const scope of SCOPES) takeStart(scopes[scope], names[scope])
      return undefined
    },
    follow(request, response) {
      const names = namesOf(request)
      const { bytes } = downloadProgress(response)
      const start = bytes()
      const one: Followed = { names, bytes: () => bytes() - start, counted: 0 }
      followed.add(one)
      for (const scope of SCOPES) changeActive(scopes[scope].active, names[scope], 1)
      response.once('close', () => {
        followed.delete(one)
        for (const scope of SCOPES) changeActive(scopes[scope].active, names[scope], -1)
        count(one)
        if (response.writableFinished) return
        const length = Number(response.getHeader('Content-Length') ?? 0)
        charge(names, Math.min(length, ABORTED_BYTES) - one.counted)
      })
    },
    close: () => clearInterval(timer),
  }
}

const SCOPE_TEXTS: Readonly<Record<Scope, string>> = {
  address: 'from this address',
  token: 'with this token',
  video: 'for this video',
}

function scopeLimits(megabytes: number, startsPerMinute: number, maxActive: number): ScopeLimits {
  const perSecond = megabytes * 1_000_000
  return {
    bytes: createTokenBuckets({ perSecond, capacity: perSecond * BURST_SECONDS }),
    starts: perMinute(startsPerMinute),
    active: new Map(),
    maxActive,
  }
}

function perMinute(count: number): TokenBuckets {
  return createTokenBuckets({ perSecond: count / 60, capacity: count })
}

function namesOf({ address, tokenName, videoId }: TrafficRequest): Names {
  return { address: addressGroups(address)[0], token: tokenName, video: videoId === '' ? undefined : videoId }
}

function takeStart({ starts }: ScopeLimits, name: string | undefined): void {
  if (name !== undefined) starts.take(name, 1)
}

function changeActive(active: Map<string, number>, name: string | undefined, by: number): void {
  if (name === undefined) return
  const count = (active.get(name) ?? 0) + by
  if (count === 0) active.delete(name)
  else active.set(name, count)
}
