import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort } from '@vitascope/embedded-postgres'
import { browserArguments, browserPath, waitFor } from '@vitascope/testing'
import { chromium } from 'playwright-core'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

let folder: string
let sources: SourceServer
let platform: TestPlatform
let tenant: Tenant
let mediaUrl: string
let video: VideoRecord

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'small.mp4')
  const listen = `127.0.0.1:${await freePort()}`
  mediaUrl = `http://${listen}`
  platform = await startTestPlatform({
    VITASCOPE_DELIVERY_PUBLIC_LISTEN: listen,
    VITASCOPE_DELIVERY_PUBLIC_URL: `${mediaUrl}/`,
    VITASCOPE_TRUST_PROXY: '127.0.0.1',
    VITASCOPE_LIMITS: JSON.stringify({ media: 20, unknown: 2 }),
  })
  tenant = await createTenant(platform.system)
  const { id } = await upload(platform.withKey(tenant.key), tenant.organisationId, `${sources.url}/small.mp4`)
  video = await waitUntilSettled(platform.withKey(tenant.key), id)
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

test('media files have the public address of delivery, and the same path at the gateway', async () => {
  for (const url of [video.uri.hls, video.uri.poster_frame, ...Object.values(video.uri.http)]) expect(url).toMatch(`${mediaUrl}/delivery/`)
  const addresses = [video.uri.hls, video.uri.hls.replace(mediaUrl, platform.url)]
  const [direct, proxied] = await Promise.all(addresses.map((url) => fetch(url)))
  expect([direct?.status, proxied?.status]).toEqual([200, 200])
  expect(await direct?.text()).toBe(await proxied?.text())
})

test('the public address limits the requests of one IP address, and its requests for unknown ids', async () => {
  const statuses = async (url: string, address: string, count: number) => {
    const distinctStatuses = new Set<number>()
    for (let nth = 0; nth < count; nth++) distinctStatuses.add((await fetch(url, { method: 'HEAD', ...from(address) })).status)
    return [...distinctStatuses]
  }
  expect(await statuses(video.uri.poster_frame, '198.51.100.20', 120)).toEqual([200, 429])
  expect(await statuses(`${mediaUrl}/delivery/123456789/abc/x.m4s`, '198.51.100.21', 20)).toEqual([404, 429])
  const rejected = await fetch(`${mediaUrl}/delivery/123456788/abc/x.m4s`, from('198.51.100.21'))
  expect(rejected.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await rejected.json()).toMatchObject({ status: 429, code: 'rate_limited', detail: expect.stringMatching(/try again in \d+ s/) })
  expect((await fetch(video.uri.poster_frame, from('198.51.100.22'))).status).toBe(200)
})

test('only media files exist at the public address', async () => {
  for (const path of ['/', '/v2/video', '/player/1', '/metrics'])
    expect((await fetch(mediaUrl + path, from('198.51.100.23'))).status).toBe(404)
})

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
describeInBrowser('in a browser', () => {
  test('the player plays from the public address of delivery without console errors', async () => {
    const browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    try {
      const page = await browser.newPage()
      const errors: string[] = []
      const segmentOrigins = new Set<string>()
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
      page.on('request', (request) => request.url().includes('.m4s') && segmentOrigins.add(new URL(request.url()).origin))
      await page.goto(`${platform.url}/player/${video.video_id}?autoplay=1&muted=1`)
      await waitFor(async () => (await page.locator('video').evaluate((element: { currentTime: number }) => element.currentTime)) > 1, {
        timeout: 30_000,
        describe: () => `the picture to pass 1 s: ${errors.join('; ')}`,
      })
      expect([...segmentOrigins]).toEqual([mediaUrl])
      expect(errors).toEqual([])
    } finally {
      await browser.close()
    }
  }, 60_000)
})

test('the public address requires tokens and checks the address of the client behind a trusted proxy', async () => {
  const api = platform.withKey(tenant.key)
  const security = { token_required_platform: true, allowed_ips: ['198.51.100.7'] }
  expect((await api.patch(`/video/${video.video_id}`, { security })).status).toBe(200)
  const { body: issued } = await api.post<{ token: string }>(`/video/${video.video_id}/token`, { expires_in: 600 })
  const { hls } = (await api.get<VideoRecord>(`/video/${video.video_id}`)).body.uri
  const withToken = hls.replace(/(\/delivery\/\d+\/[^/]+)\//, `$1~${issued.token}/`)
  // A changed policy takes effect within 5 s.
  await waitFor(async () => (await fetch(hls, from('198.51.100.7'))).status === 403, { describe: 'the token to be required' })
  expect((await fetch(withToken, from('198.51.100.8'))).status).toBe(403)
  expect((await fetch(withToken, from('198.51.100.7'))).status).toBe(200)
})
