// Faults: A14
import { generateKeyPairSync } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { beforeAll, expect, test } from '@jest/globals'
import type { Principal } from '@vitascope/grpc'
import { PLAYBACK_KINDS, type PlaybackKind } from '@vitascope/playback-policy'
import { GetPlaybackPolicyResponse } from '@vitascope/proto/catalogue/v1/playback_policy'
import { type ExplainPlaybackRequest, PlaybackRule } from '@vitascope/proto/catalogue/v1/playback_rules'
import { fixedKeys, makeTokenKeys, parseTokenKeys, signVideoToken } from '@vitascope/security'
import { createMetrics } from '@vitascope/telemetry'
import { isLongRun, seededRandom, testLog } from '@vitascope/testing'
import { SignJWT } from 'jose'
import type { PlaybackPolicy } from '../apps/catalogue/src/playback-policy/playback-policy.ts'
import { playbackRulesHandlers } from '../apps/catalogue/src/playback-policy/playback-rules-rpc.ts'
import { NO_RULES } from '../apps/catalogue/src/playback-rules/playback-rules.ts'
import { createRequestHandler, type DeliveryParts } from '../apps/delivery/src/handle-request.ts'
import { createPolicyCache } from '../apps/delivery/src/policy-cache.ts'
import { createTrafficLimits } from '../apps/delivery/src/traffic/traffic-limits.ts'

const DECISIONS = isLongRun ? 1_000_000 : 10_000
/** Number of requests for each random policy. */
const REQUESTS = 25
const HOST = 'video.example'
const FILES: Readonly<Record<Exclude<PlaybackKind, 'page' | 'slide'>, string>> = {
  manifest: 'hls/h264_720/index.m3u8',
  segment: 'hls/h264_720/seg-1.m4s',
  mp4: 'h264_360.mp4',
  image: 'images/poster.jpg',
  caption: 'captions/all.vtt',
  download: 'source.bin',
}
const MASTER_FILE = 'hls/master.m3u8'
/** A file of unknown height counts as higher than every limit. */
const HEIGHTS: Readonly<Record<string, number>> = { manifest: 720, segment: 720, mp4: 360, download: 10_000 }
const MASTER = [360, 720].map((height) => `#EXT-X-STREAM-INF:RESOLUTION=640x${height}\nh264_${height}/index.m3u8\n`).join('')

const random = seededRandom(20_261_127)
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value
const some = <Value>(values: readonly Value[], share = 0.3): Value[] => values.filter(() => random() < share)
const chance = (share: number) => random() < share

const DOMAINS = ['example.com', '*.example.com', 'example.org', 'xn--bcher-kva.example']
const REFERRERS = ['https://example.com/course/*', 'https://www.example.com/', 'http://example.org/a']
const PAGES = [
  ...[
    '',
    'https://example.com/',
    'https://www.example.com/',
    'https://example.com/course/1?x=2',
    'http://example.org/a',
    'null',
    'about:blank',
  ],
  ...['https://example.com@evil.example/', 'https://example.com.evil.example/', 'https://example.com./course/1', 'https://bücher.example/'],
  ...[`https://${HOST}/player/1`, `https://${HOST}.evil.example/`],
]
const ADDRESSES = ['192.0.2.7', '198.51.100.1', '2001:db8::1', '::ffff:203.0.113.9']
const NETWORKS = ['192.0.2.0/24', '198.51.100.1', '2001:db8::/32', '203.0.113.0/24']
const COUNTRIES: Readonly<Record<string, string>> = { '192.0.2.7': 'DE', '198.51.100.1': 'AT' }
const YESTERDAY = new Date(Date.now() - 86_400_000)
const TOMORROW = new Date(Date.now() + 86_400_000)

function buildRule(): PlaybackRule {
  const allows = chance(0.5)
  const when = {
    ...(chance(0.3) && { domain: some(DOMAINS, 0.5) }),
    ...(chance(0.2) && { referrer: some(REFERRERS, 0.5) }),
    ...(chance(0.2) && { country: some(['DE', 'AT', 'FR'], 0.5), unknownCountry: chance(0.5) }),
    ...(chance(0.3) && { cidr: some(NETWORKS, 0.5) }),
    ...(chance(0.2) && { claim: [{ name: 'group', values: some(['staff', 'pupils'], 0.7).concat('x') }] }),
    ...(chance(0.4) && { kind: some(PLAYBACK_KINDS, 0.4) }),
    ...(chance(0.1) && { from: pick([YESTERDAY, TOMORROW]) }),
  }
  return PlaybackRule.fromPartial({
    name: `rule ${random()}`,
    allows,
    when,
    message: allows ? '' : 'no',
    reportOnly: !allows && chance(0.2),
  })
}

const keys = parseTokenKeys(makeTokenKeys())
const pair = generateKeyPairSync('ed25519')
const playbackKeys = [
  { keyId: '3', algorithm: 'EdDSA' as const, publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString() },
]

/** Tokens of one video: of the platform, of a password, of the organisation with several claims, and invalid ones. */
async function buildTokens(videoId: string): Promise<string[]> {
  const expires = TOMORROW
  const exp = Math.floor(expires.getTime() / 1_000)
  const sign = (claims: Record<string, unknown>, kid = '3') =>
    new SignJWT({ sub: videoId, exp, ...claims }).setProtectedHeader({ alg: 'EdDSA', kid }).sign(pair.privateKey)
  return await Promise.all([
    signVideoToken({ videoId, expires }, keys),
    signVideoToken({ videoId, expires, ip: '192.0.2.7' }, keys),
    signVideoToken({ videoId, expires, password: 'x' }, keys),
    signVideoToken({ videoId: '2', expires }, keys),
    ...[
      { group: 'staff' },
      { aud: '*.example.com' },
      { ip: '2001:db8::1' },
      { country: 'DE' },
      { max_height: 360 },
      { max_height: 100 },
    ].map((claims) => sign(claims)),
    ...[{ kinds: ['manifest', 'image'] }, { exp: 1 }, { nbf: exp }, { aud: [] }, { sub: '2' }].map((claims) => sign(claims)),
    sign({}, '4'),
    Promise.resolve('not.a.token'),
  ])
}

let stored: PlaybackPolicy
function buildPolicy(): PlaybackPolicy {
  return {
    organisationId: '1',
    sets: [{ version: 'v1', prefix: `media/${random()}` }],
    ...{ added: [], poster: undefined, captions: [], durationSeconds: 1, masterPath: 'hls/master.m3u8', lowestHeight: 360, maxSessions: 0 },
    tokenRequired: chance(0.3),
    isPrivate: chance(0.1),
    passwordRequired: chance(0.2),
    allowedIps: chance(0.2) ? some(NETWORKS, 0.6) : [],
    expireTime: chance(0.2) ? pick([YESTERDAY, TOMORROW]) : undefined,
    videoRules: Array.from({ length: Math.floor(random() * 5) }, buildRule),
    organisationRules: Array.from({ length: Math.floor(random() * 5) }, buildRule),
    deniesByDefault: chance(0.3),
    keys: chance(0.9) ? playbackKeys : [],
  }
}

const countries = { find: (address: string) => COUNTRIES[address], close: () => {} }
let explain: (request: ExplainPlaybackRequest) => Promise<{ allowed: boolean; code: string }>
let load: (request: {
  videoId: string
  file: string
  address: string
  page: string
  token: string
}) => Promise<{ status: number; code: string }>

beforeAll(() => {
  const principal: Principal = { kind: 'user', userId: '1', organisationId: '1', userType: 'standard', keyId: '1' }
  const call = { principal, requestId: 'r', signal: new AbortController().signal }
  const { explainPlayback } = playbackRulesHandlers({
    rules: { findOfPlaylist: async () => [], find: async () => NO_RULES, set: async () => NO_RULES },
    policies: { find: async () => stored, findIncludingExpired: async () => stored, sweep: async () => 0 },
    organisations: { require: async () => {}, requireActive: async () => {} } as never,
    tokenKeys: fixedKeys(keys),
    publicHost: HOST,
    countries,
  })
  explain = async (request) => await explainPlayback(request, call)

  const policies = createPolicyCache({
    policies: {
      // As it is sent to delivery.
      getPlaybackPolicy: async () =>
        GetPlaybackPolicyResponse.decode(GetPlaybackPolicyResponse.encode(GetPlaybackPolicyResponse.fromPartial(stored)).finish()),
    },
    ...{ outageMs: 0, log: testLog, metrics: createMetrics('test') },
  } as never)
  const storage = { open: async () => ({ stream: Readable.from([MASTER]) }) }
  const opened = { bytes: 1, modified: YESTERDAY, send: async (response: ServerResponse) => void response.end(), discard: async () => {} }
  const parts = {
    ...{ policies, storage, objects: { open: async () => opened }, presign: undefined, isRedirecting: false },
    ...{ captionTexts: undefined, preview: undefined, tokenKeys: fixedKeys(keys), pageHost: HOST, countries },
    sessions: { check: () => undefined, close: () => {} },
    downloadCounts: { add: () => {} },
    rejections: { count: () => {}, report: () => {} },
    ...{ traffic: createTrafficLimits('off', createMetrics('test')), isCrawler: () => false, throttled: { add: () => {} } },
  } as unknown as DeliveryParts
  const handle = createRequestHandler(parts)
  const socket = new Socket()
  load = async ({ videoId, file, address, page, token }) => {
    const request = new IncomingMessage(socket)
    request.method = 'GET'
    request.url = `/delivery/${videoId}/v1${token === '' ? '' : `~${token}`}/${file}`
    if (page !== '') request.headers.referer = page
    const response = new ServerResponse(request)
    let body = ''
    response.end = ((chunk?: unknown) => {
      if (typeof chunk === 'string') body = chunk
      return response
    }) as typeof response.end
    await handle(request, response, { address, signal: call.signal })
    const problem: unknown = body.startsWith('{') ? JSON.parse(body) : {}
    return { status: response.statusCode, code: (problem as { code?: string }).code ?? '' }
  }
})

test(`the explanation of a request is how delivery decides it, in ${DECISIONS} random cases`, async () => {
  const codes = new Map<string, number>()
  let decisions = 0
  for (let video = 10; decisions < DECISIONS; video++) {
    stored = buildPolicy()
    const videoId = `${video}`
    const tokens = await buildTokens(videoId)
    for (let nth = 0; nth < REQUESTS; nth++, decisions++) {
      const [kind, file] = pick([...Object.entries(FILES), ['manifest', MASTER_FILE]]) as [PlaybackKind, string]
      const [address, page, token] = [pick(ADDRESSES), pick(PAGES), chance(0.6) ? pick(tokens) : '']
      // Without a height, `explain` is about the master playlist.
      const height = file === MASTER_FILE ? 0 : (HEIGHTS[kind] ?? 0)
      const explained = await explain({ videoId, kind, address, referrer: page, token, at: undefined, height })
      // Delivery gets the address of the connection, which is normalised.
      const actual = await load({ videoId, file, address: address.replace('::ffff:', ''), page, token })
      codes.set(explained.code, (codes.get(explained.code) ?? 0) + 1)
      if (explained.allowed !== (actual.status === 200) || explained.code !== actual.code)
        expect([{ kind, address, page, token, stored }, explained]).toEqual([{}, actual])
    }
  }
  process.stderr.write(`decisions by code: ${JSON.stringify(Object.fromEntries([...codes].sort()))}\n`)
  // The random cases must cover most codes.
  expect(codes.size).toBeGreaterThan(15)
}, 1_800_000)
