// Faults: B10, A14
import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type PlaybackConditions, PlaybackRule } from '@vitascope/proto/catalogue/v1/playback_rules'
import { makeTokenKeys, parseTokenKeys, signVideoToken } from '@vitascope/security'
import { SignJWT } from 'jose'
import { addVideo, current, get, inOneHour, startDeliveryForTests, storage, tokenKeys } from './delivery-under-test.ts'

startDeliveryForTests()

describe('a video that requires a token', () => {
  const paths = ['hls/master.m3u8', 'h264_100.mp4']
  test.each(paths)('returns %s for a valid token only, not without one or for a forged, foreign or expired one', async (file) => {
    const id = addVideo({ tokenRequired: true })
    const good = await signVideoToken({ videoId: id, expires: inOneHour() }, tokenKeys)
    const foreign = await signVideoToken({ videoId: '1', expires: inOneHour() }, tokenKeys)
    const expired = await signVideoToken({ videoId: id, expires: new Date(Date.now() - 5_000) }, tokenKeys)
    const forged = await signVideoToken({ videoId: id, expires: inOneHour() }, parseTokenKeys(makeTokenKeys()))
    const statuses = []
    for (const version of ['v1', ...[forged, foreign, expired, `${good}x`, good].map((token) => `v1~${token}`)]) {
      const response = await get(`${id}/${version}/${file}`)
      statuses.push(response.status)
      await response.arrayBuffer()
    }
    expect(statuses).toEqual([403, 401, 401, 401, 401, 200])
  })
  test('redirects ?token= to the address whose path contains the token', async () => {
    const id = addVideo({ tokenRequired: true })
    const token = await signVideoToken({ videoId: id, expires: inOneHour() }, tokenKeys)
    const response = await get(`${id}/v1/hls/master.m3u8?token=${token}`)
    expect([response.status, response.headers.get('location')]).toEqual([302, `/delivery/${id}/v1~${token}/hls/master.m3u8`])
    expect((await get(`${id}/v1/hls/master.m3u8?token=%22%3E`)).status).toBe(401)
  })
  test('rejects a token of another client address', async () => {
    const id = addVideo({ tokenRequired: true })
    const token = await signVideoToken({ videoId: id, expires: inOneHour(), ip: '203.0.113.7' }, tokenKeys)
    const from = async (address: string) => (await get(`${id}/v1~${token}/h264_100.mp4`, { from: address })).status
    expect([await from('203.0.113.7'), await from('203.0.113.8')]).toEqual([200, 401])
  })
  test('is not cached by shared caches', async () => {
    const id = addVideo({ tokenRequired: true })
    const token = await signVideoToken({ videoId: id, expires: inOneHour() }, tokenKeys)
    expect((await get(`${id}/v1~${token}/h264_100.mp4`)).headers.get('cache-control')).toMatch(/^private/)
  })
})

describe('a video with allowed addresses', () => {
  test('rejects a client that forges X-Forwarded-For', async () => {
    const id = addVideo({ allowedIps: ['203.0.113.0/24'] })
    const from = async (chain: string) => (await get(`${id}/v1/h264_100.mp4`, { from: chain })).status
    expect([await from('203.0.113.9'), await from('198.51.100.1'), await from('203.0.113.9, 198.51.100.1')]).toEqual([200, 403, 403])
  })
})

describe('a video with rules', () => {
  const FILES = {
    manifest: 'hls/master.m3u8',
    segment: 'hls/h264_100/seg-1.m4s',
    mp4: 'h264_100.mp4',
    image: 'images/poster.jpg',
    caption: 'captions/all.vtt',
    download: 'source.bin',
  }
  /** A condition of each kind that is true for `REQUEST`, and the headers that make it false. */
  const CONDITIONS: Record<string, [when: Partial<PlaybackConditions>, other: Record<string, string>]> = {
    domain: [{ domain: ['www.example.com'] }, { origin: 'https://www.example.com.evil.example' }],
    referrer: [{ referrer: ['https://www.example.com/*'] }, { referer: 'https://www.example.com@evil.example/' }],
    country: [{ country: ['DE'], unknownCountry: false }, { 'x-forwarded-for': '198.51.100.1' }],
    'unknown country': [{ country: ['DE'], unknownCountry: true }, { 'x-forwarded-for': '192.0.2.1' }],
    cidr: [{ cidr: ['203.0.113.0/24'] }, { 'x-forwarded-for': '198.51.100.1' }],
    time: [{ from: new Date('2020-01-01T00:00:00Z') }, {}],
    claim: [{ claim: [{ name: 'group', values: ['staff'] }] }, {}],
  }
  const REQUEST = { origin: 'https://www.example.com', referer: 'https://www.example.com/', 'x-forwarded-for': '203.0.113.7' }
  const buildRule = (when: Partial<PlaybackConditions>, allows = false) =>
    PlaybackRule.fromPartial({ name: 'one', when, allows, message: allows ? '' : 'not for you' })
  const request = (id: string, file: string, headers: Record<string, string> = {}) =>
    get(`${id}/v1/${file}`, { headers: { ...REQUEST, ...headers } })

  beforeAll(async () => {
    for (const file of Object.values(FILES)) await storage.put(`media/2/7-1/${file}`, Buffer.from(file))
  })
  beforeEach(() => {
    current.sets = [{ version: 'v1', prefix: 'media/2/7-1' }]
  })

  const cases = Object.keys(CONDITIONS).flatMap((condition) => Object.keys(FILES).map((kind) => [condition, kind] as const))
  test.each(cases)('with a condition on its %s denies each %s for which it is true, and no other', async (condition, kind) => {
    const [when, other] = CONDITIONS[condition] ?? [{}, {}]
    const isTrue = condition !== 'claim'
    const file = FILES[kind as keyof typeof FILES]
    const own = addVideo({ videoRules: [buildRule({ ...when, kind: [kind] })] })
    expect((await request(own, file)).status).toBe(isTrue ? 403 : 200)
    if (Object.keys(other).length > 0) expect((await request(own, file, other)).status).toBe(200)
    for (const [otherKind, otherFile] of Object.entries(FILES))
      if (otherKind !== kind) expect((await request(own, otherFile)).status).toBe(200)
    current.video++
    const allowing = addVideo({ organisationRules: [buildRule({ ...when, kind: [kind] }, true)], deniesByDefault: true })
    expect((await request(allowing, file)).status).toBe(isTrue ? 200 : 403)
  })

  test.each(Object.entries(FILES))(
    'with a condition on a claim decides about each %s by a token that the organisation signed',
    async (kind, file) => {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519')
      const keys = [{ keyId: '3', algorithm: 'EdDSA', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() }]
      const rule = buildRule({ claim: [{ name: 'group', values: ['staff', 'pupils'] }], kind: [kind] }, true)
      const id = addVideo({ videoRules: [rule], deniesByDefault: true, keys })
      const status = async (claims: Record<string, unknown>) => {
        const payload = { sub: id, exp: Math.floor(Date.now() / 1_000) + 60, ...claims }
        const token = await new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', kid: '3' }).sign(privateKey)
        return (await get(`${id}/v1~${token}/${file}`)).status
      }
      expect(await status({ group: 'staff' })).toBe(200)
      expect(await status({ group: ['guests', 'pupils'] })).toBe(200)
      expect(await status({ group: 'guests' })).toBe(403)
      expect(await status({})).toBe(403)
      expect(await status({ group: 'staff', exp: 1 })).toBe(401)
      expect((await get(`${id}/v1/${file}`)).status).toBe(403)
    },
  )

  test('with a token that restricts the height gets a master playlist without higher variants, and no higher files', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const keys = [{ keyId: '3', algorithm: 'ES256', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() }]
    const variant = (height: number) => `#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=640x${height}\nh264_${height}/index.m3u8\n`
    const prefix = 'media/2/8-1'
    await storage.put(`${prefix}/hls/master.m3u8`, Buffer.from(`#EXTM3U\n${variant(360)}${variant(720)}`))
    for (const height of [360, 720]) await storage.put(`${prefix}/hls/h264_${height}/seg-1.m4s`, Buffer.from(`${height}`))
    const id = addVideo({ sets: [{ version: 'v1', prefix }], masterPath: 'hls/master.m3u8', keys })
    const fetchUpTo = async (maxHeight: number, file: string) => {
      const payload = { sub: id, exp: Math.floor(Date.now() / 1_000) + 60, max_height: maxHeight }
      const token = await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: '3' }).sign(privateKey)
      const response = await get(`${id}/v1~${token}/${file}`)
      return [response.status, await response.text()]
    }
    expect(await fetchUpTo(720, 'hls/master.m3u8')).toEqual([200, `#EXTM3U\n${variant(360)}${variant(720)}`])
    expect(await fetchUpTo(719, 'hls/master.m3u8')).toEqual([200, `#EXTM3U\n${variant(360)}`])
    expect(await fetchUpTo(719, 'hls/h264_360/seg-1.m4s')).toEqual([200, '360'])
    for (const [height, file] of [
      [719, 'hls/h264_720/seg-1.m4s'],
      [359, 'hls/master.m3u8'],
      [359, 'hls/h264_360/seg-1.m4s'],
    ] as const)
      expect(await fetchUpTo(height, file)).toEqual([403, expect.stringContaining('token_wrong_height')])
  })

  test('with a token that restricts the height continues when encoding finishes', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const keys = [{ keyId: '3', algorithm: 'EdDSA', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() }]
    const [masterPath, segment, prefix] = ['hls/master.m3u8', 'hls/h264_360/seg-1.m4s', 'media/3/9-1']
    const master = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=640x360\nh264_360/index.m3u8\n'
    await storage.put(`${prefix}/${masterPath}`, Buffer.from(master))
    await storage.put(`${prefix}/${segment}`, Buffer.from('360'))
    current.lastSegment = 2
    const id = addVideo({ sets: [{ version: 'v1', prefix: 'preview/7' }], masterPath, keys })
    // Delivery caches this policy for 2 s.
    expect((await get(`${id}/v1/hls/h264_100/index.m3u8`)).status).toBe(200)
    current.lastSegment = undefined
    addVideo({ sets: [{ version: 'v1', prefix }], masterPath, keys })
    const payload = { sub: id, exp: Math.floor(Date.now() / 1_000) + 60, max_height: 360 }
    const token = await new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', kid: '3' }).sign(privateKey)
    expect((await get(`${id}/v1~${token}/${segment}`)).status).toBe(200)
  })

  test('returns a stable code and the text of the rule, and no shared cache keeps its files', async () => {
    const id = addVideo({ videoRules: [buildRule({ kind: ['segment'] })] })
    const response = await request(id, FILES.segment)
    expect([response.status, await response.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'rule_refused', detail: 'not for you' }),
    ])
    expect((await request(id, FILES.mp4)).headers.get('cache-control')).toContain('private')
  })

  test('that only report changes no response, and the request is counted', async () => {
    const countReported = async () => {
      const text = await (await fetch(`http://127.0.0.1:${current.metricsPort}/metrics`)).text()
      return Number(/^vitascope_delivery_report_only_rejections_total(?:\{.*\})? (\d+)$/m.exec(text)?.[1] ?? 0)
    }
    const before = await countReported()
    const reportOnly = { ...buildRule({}), reportOnly: true }
    const response = await request(addVideo({ videoRules: [reportOnly] }), FILES.segment)
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, expect.stringContaining('public')])
    expect((await countReported()) - before).toBe(1)
  })

  test('is played by its own player page, which was only shown if the page around it may embed it', async () => {
    const id = addVideo({ videoRules: [buildRule({ domain: ['www.example.com'] }, true)], deniesByDefault: true })
    const own = { origin: `http://${current.address}`, referer: `http://${current.address}/player/1` }
    expect((await request(id, FILES.segment, own)).status).toBe(200)
    for (const origin of [
      'null',
      'https://evil.example',
      `https://${current.address}.evil.example`,
      `http://${current.address}@evil.example`,
    ])
      expect((await request(id, FILES.segment, { origin, referer: origin })).status).toBe(403)
  })
})
