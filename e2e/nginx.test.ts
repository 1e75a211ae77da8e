// Faults: A14
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort } from '@vitascope/embedded-postgres'
import {
  extendTimeout,
  helmPath,
  nginxPath,
  recordFigure,
  startNginx,
  startNginxWithFiles,
  type TestNginx,
  waitFor,
} from '@vitascope/testing'
import { nginxFiles, render } from '../test/chart/support/chart.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

/** Starts nginx in front of a delivery with a folder of objects. */
type Start = (delivery: string, objects: string) => Promise<TestNginx>

/** Uses files.conf, which an operator includes in the `http` block of nginx. */
const startWithFiles: Start = (delivery, objects) => {
  const config = readFileSync(join(import.meta.dirname, '../deploy/nginx/files.conf'), 'utf8')
  return startNginx(({ port }) =>
    config
      .replace('delivery:8082', delivery)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace('/var/lib/vitascope/objects/', `${objects}/`),
  )
}

/** All configuration files are those of the chart, with other paths and ports. */
const startWithChart: Start = (delivery, objects) => {
  const { main, server } = nginxFiles(render(['nginx']))
  return startNginxWithFiles(({ port, folder }) => ({
    'nginx.conf': `daemon off;\n${main.replaceAll('/tmp/', `${folder}/`).replace('/etc/vitascope/nginx/', `${folder}/`)}`,
    'server.conf': server
      .replace('127.0.0.1:8083', delivery)
      .replace('listen 8082', `listen 127.0.0.1:${port}`)
      .replace('/var/lib/vitascope/objects/', `${objects}/`),
  }))
}

const configurations: [string, Start][] = [['files.conf', startWithFiles]]
if (helmPath() !== undefined) configurations.push(['the configuration of the chart', startWithChart])
const describeNginx = nginxPath() === undefined ? describe.skip : describe

describeNginx.each(configurations)('nginx in front of delivery, with %s', (_, start) => {
  let folder: string
  let sources: SourceServer
  let nginx: TestNginx
  let platform: TestPlatform
  let tenant: Tenant
  let video: VideoRecord
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nginx-'))
    const dataDir = join(folder, 'data')
    sources = await startSourceServer(folder)
    await makeSource(folder, 'small.mp4')
    const delivery = `127.0.0.1:${await freePort()}`
    nginx = await start(delivery, `${dataDir}/storage`)
    const env = {
      VITASCOPE_DELIVERY_PUBLIC_LISTEN: delivery,
      VITASCOPE_DELIVERY_PUBLIC_URL: nginx.url,
      VITASCOPE_DELIVERY_ACCEL_PATH: '/objects/',
      VITASCOPE_TRUST_PROXY: '127.0.0.1',
    }
    platform = await startTestPlatform(env, dataDir)
    tenant = await createTenant(platform.system)
    const { id } = await upload(platform.withKey(tenant.key), tenant.organisationId, `${sources.url}/small.mp4`)
    video = await waitUntilSettled(platform.withKey(tenant.key), id)
  }, 180_000)
  afterAll(async () => {
    await platform?.remove()
    await nginx?.stop()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const change = async (fields: Record<string, unknown>) => {
    const api = platform.withKey(tenant.key)
    expect((await api.patch(`/video/${video.video_id}`, fields)).status).toBe(200)
    video = (await api.get<VideoRecord>(`/video/${video.video_id}`)).body
  }
  const mp4 = () => Object.values(video.uri.http)[0] ?? ''

  test('files have the bytes and headers of delivery, with ranges and conditional requests', async () => {
    const [sent, direct] = await Promise.all([fetch(mp4()), fetch(mp4().replace(nginx.url, platform.url))])
    expect([sent.status, direct.status]).toEqual([200, 200])
    for (const name of ['content-type', 'content-length', 'cache-control', 'access-control-allow-origin', 'x-content-type-options'])
      expect([name, sent.headers.get(name)]).toEqual([name, direct.headers.get(name)])
    const bytes = Buffer.from(await sent.arrayBuffer())
    expect(bytes.equals(Buffer.from(await direct.arrayBuffer()))).toBe(true)
    const range = await fetch(mp4(), { headers: { range: 'bytes=100-199' } })
    expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes 100-199/${bytes.length}`])
    expect(Buffer.from(await range.arrayBuffer()).equals(bytes.subarray(100, 200))).toBe(true)
    const etag = sent.headers.get('etag') ?? ''
    expect((await fetch(mp4(), { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await fetch(mp4(), { headers: { range: `bytes=${bytes.length}-` } })).status).toBe(416)
    const head = await fetch(mp4(), { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, `${bytes.length}`])
  })

  test('the playlist and all of its files can be read', async () => {
    const playlists = [video.uri.hls]
    let segments = 0
    for (const url of playlists) {
      const text = await (await fetch(url)).text()
      expect(text).toMatch(/^#EXTM3U/)
      const names = [...text.matchAll(/URI="([^"]+)"/g)]
        .map(([, name]) => name ?? '')
        .concat(text.split('\n').filter((line) => /^[^#\s]/.test(line)))
      for (const name of names) {
        const next = new URL(name, url).href
        if (next.endsWith('.m3u8')) playlists.push(next)
        else {
          expect((await fetch(next)).status).toBe(200)
          segments += 1
        }
      }
    }
    expect(segments).toBeGreaterThan(5)
  })

  test('internal locations and files of other folders cannot be read', async () => {
    const path = new URL(mp4()).pathname
    for (const url of ['/objects/', '/objects/media', `${path}/../../../objects/media`, '/'])
      expect([url, (await fetch(`${nginx.url}${url}`)).status]).toEqual([url, 404])
    expect((await fetch(`${nginx.url}${path}`, { headers: { 'x-accel-redirect': '/objects/x' } })).status).toBe(200)
  })

  test('a protected video requires a token, and its earlier address stops working within 5 s', async () => {
    const earlier = mp4()
    expect((await fetch(earlier)).status).toBe(200)
    await change({ security: { token_required_platform: true } })
    const protectedMs = performance.now()
    await waitFor(async () => (await fetch(earlier)).status === 404, { timeout: 20_000, interval: 50 })
    const took = performance.now() - protectedMs
    recordFigure('A14', `nginx: earlier address of a protected video rejected after ${Math.round(took)} ms`)
    expect(took).toBeLessThan(extendTimeout(5_000))
    const without = await fetch(mp4())
    expect([without.status, (await without.text()).length < 1_000]).toEqual([403, true])
    const { body } = await platform.withKey(tenant.key).post<{ token: string }>(`/video/${video.video_id}/token`, { expires_in: 600 })
    const tokenUrl = mp4().replace(/(\/delivery\/\d+\/[^/]+)\//, `$1~${body.token}/`)
    const allowed = await fetch(tokenUrl)
    expect([allowed.status, allowed.headers.get('cache-control')]).toEqual([200, 'private, max-age=60'])
    await allowed.arrayBuffer()
    expect((await fetch(tokenUrl.replace('~', '~x'))).status).toBe(401)
    await change({ security: { token_required_platform: false } })
  })

  test('address rules apply to the address that nginx sees, not to a forged header', async () => {
    await change({ security: { allowed_ips: ['203.0.113.7'] } })
    await waitFor(async () => (await fetch(mp4())).status === 403, { timeout: 20_000, interval: 50 })
    expect((await fetch(mp4(), { headers: { 'x-forwarded-for': '203.0.113.7' } })).status).toBe(403)
    await change({ security: { allowed_ips: [] } })
    await waitFor(async () => (await fetch(mp4())).status === 200, { timeout: 20_000, interval: 50 })
  })
})
