import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, expect, jest, test } from '@jest/globals'
import { DEFAULT_LIMITS, type Limits } from '@vitascope/rate-limit'
import { createMetrics } from '@vitascope/telemetry'
import { createTrafficLimits, type TrafficLimits, type TrafficRequest } from './traffic-limits.ts'

let now = 1_000
jest.spyOn(performance, 'now').mockImplementation(() => now)
let traffic: TrafficLimits
afterEach(() => traffic.close())
const start = (limits: Partial<Limits>) => {
  traffic = createTrafficLimits({ ...DEFAULT_LIMITS, ...limits }, createMetrics('test'))
}
const request = (more: Partial<TrafficRequest> = {}): TrafficRequest => ({
  ...{ kind: 'segment', address: '192.0.2.1', videoId: '1', tokenName: undefined, site: undefined, isCrawler: false, isStart: false },
  ...more,
})
const policyOf = (more: Partial<TrafficRequest> = {}) => traffic.check(request(more))?.headers['RateLimit-Policy']

/** A response of which `sent` bytes were written to the connection. */
function respond(of: TrafficRequest, { sent, length = sent, isFinished = true }: { sent: number; length?: number; isFinished?: boolean }) {
  const socket = { bytesWritten: 500, writableLength: 0 }
  const response = Object.assign(new EventEmitter(), { req: { socket }, writableFinished: isFinished, getHeader: () => length })
  // It has the parts that are read.
  traffic.follow(of, response as unknown as ServerResponse)
  socket.bytesWritten += sent
  return { end: () => response.emit('close') }
}

test.each([
  ['address', { address_mb: 1 }, { address: '192.0.2.2' }],
  ['token', { token_mb: 1 }, { tokenName: 'b' }],
  ['video', { video_mb: 1 }, { videoId: '2' }],
] as const)('bytes are limited per %s, and others are not affected', (scope, limits, other) => {
  start(limits)
  const one = request({ tokenName: 'a' })
  expect(traffic.check(one)).toBeUndefined()
  respond(one, { sent: 12_000_000 }).end()
  const rejection = traffic.check(one)
  expect(rejection).toMatchObject({ status: 429, code: 'rate_limited', reason: scope })
  expect(rejection?.headers).toEqual({ 'Retry-After': '3', 'RateLimit-Policy': `"${scope}_bytes"` })
  expect(traffic.check({ ...one, ...other })).toBeUndefined()
  now += 2_100
  expect(traffic.check(one)).toBeUndefined()
})

test('the addresses of an IPv6 /64 count together', () => {
  start({ address_mb: 1 })
  respond(request({ address: '2001:db8::1' }), { sent: 12_000_000 }).end()
  expect(policyOf({ address: '2001:db8::ffff:1' })).toBe('"address_bytes"')
  expect(policyOf({ address: '2001:db8:0:1::1' })).toBeUndefined()
})

test('a response that the client aborts costs what was read for it, at most 1 MiB', () => {
  start({ token_mb: 1 })
  const one = request({ tokenName: 'a' })
  for (let nth = 0; nth < 9; nth++) respond(one, { sent: 10, length: 5_000_000_000, isFinished: false }).end()
  expect(traffic.check(one)).toBeUndefined()
  respond(one, { sent: 600_000, length: 5_000_000_000, isFinished: false }).end()
  expect(policyOf({ tokenName: 'a' })).toBe('"token_bytes"')
  for (let nth = 0; nth < 100; nth++) respond(request({ tokenName: 'b' }), { sent: 10, length: 1_000, isFinished: false }).end()
  expect(policyOf({ tokenName: 'b' })).toBeUndefined()
})

test('starts are limited per address, token and video; other requests continue', () => {
  start({ address_starts: 3, token_starts: 2, video_starts: 4 })
  const startOf = (more: Partial<TrafficRequest>) => policyOf({ isStart: true, ...more })
  expect([1, 2, 3].map(() => startOf({ tokenName: 'a' }))).toEqual([undefined, undefined, '"token_starts"'])
  expect([1, 2].map(() => startOf({ tokenName: 'b' }))).toEqual([undefined, '"address_starts"'])
  expect([1, 2].map((nth) => startOf({ address: `198.51.100.${nth}` }))).toEqual([undefined, '"video_starts"'])
  expect(policyOf({ tokenName: 'a' })).toBeUndefined()
  now += 30_000
  expect(startOf({ tokenName: 'a' })).toBeUndefined()
})

test('active requests are limited per token and per video until they end', () => {
  start({ token_at_once: 2, video_at_once: 3 })
  const responses = ['a', 'a', undefined].map((tokenName) => respond(request({ tokenName }), { sent: 1 }))
  expect([policyOf({ tokenName: 'a', videoId: '2' }), policyOf(), policyOf({ videoId: '2' })]).toEqual([
    '"token_at_once"',
    '"video_at_once"',
    undefined,
  ])
  for (const { end } of responses) end()
  expect([policyOf({ tokenName: 'a' }), policyOf()]).toEqual([undefined, undefined])
})

test('crawlers get pictures, captions and some playlists, and no media', () => {
  start({ crawler_requests: 2 })
  for (const kind of ['segment', 'mp4', 'download'] as const)
    expect(traffic.check(request({ kind, isCrawler: true }))).toMatchObject({ status: 403, code: 'crawler_refused', reason: undefined })
  const load = (more: Partial<TrafficRequest> = {}) => policyOf({ kind: 'manifest', isCrawler: true, ...more })
  expect([load(), load({ kind: 'image' }), load(), load({ videoId: '2' })]).toEqual([undefined, undefined, '"crawler_requests"', undefined])
  expect(policyOf({ kind: 'manifest' })).toBeUndefined()
})

test('pages of a site that start a video too often are paused for a minute, and only they', () => {
  start({ site_starts: 2 })
  const load = (more: Partial<TrafficRequest> = {}) => traffic.check(request({ site: 'copies.example', ...more }))
  expect([load({ isStart: true }), load({ isStart: true }), load()]).toEqual([undefined, undefined, undefined])
  const rejection = load({ isStart: true })
  expect(rejection).toMatchObject({ status: 429, code: 'site_paused', reason: { site: 'copies.example' } })
  expect(rejection?.headers['Retry-After']).toBe('60')
  expect(load()?.code).toBe('site_paused')
  expect([load({ site: 'other.example', isStart: true }), load({ site: undefined }), load({ videoId: '2' })]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('nothing is limited if limits are off', () => {
  traffic = createTrafficLimits('off', createMetrics('test'))
  expect(traffic.check(request({ kind: 'segment', isCrawler: true }))).toBeUndefined()
})
