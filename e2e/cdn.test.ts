// Faults: A7, A14
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort } from '@vitascope/embedded-postgres'
import { extendTimeout, nginxPath, recordFigure, startNginx, type TestNginx, waitFor } from '@vitascope/testing'
import { Webhook } from 'standardwebhooks'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const withNginx = nginxPath() === undefined ? describe.skip : describe
const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
/** Maximum time until the CDN stops sending the files of a protected video. */
const PURGE_MS = 5_000

withNginx('a CDN that caches media files, with a purge URL', () => {
  let folder: string
  let sources: SourceServer
  /** Replaces the CDN: a cache that does not check access. */
  let cdn: TestNginx
  let cacheFolder: string
  /** Replaces the API of the CDN. It removes the files of a prefix from the cache. */
  let purger: Server
  let isPurgerDown = false
  let platform: TestPlatform
  let tenant: Tenant
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cdn-'))
    sources = await startSourceServer(folder)
    await makeSource(folder, 'small.mp4')
    const delivery = `127.0.0.1:${await freePort()}`
    cdn = await startNginx((options) => {
      cacheFolder = join(options.folder, 'cache')
      return `proxy_cache_path ${cacheFolder} keys_zone=cdn:10m;
  server {
    listen 127.0.0.1:${options.port};
    location / {
      proxy_pass http://${delivery};
      proxy_cache cdn;
      proxy_cache_key $uri;
      add_header X-Cache $upstream_cache_status;
    }
  }`
    })
    purger = createServer(async (request, response) => {
      if (isPurgerDown) return void response.writeHead(503).end()
      const { data } = new Webhook(SECRET).verify(await text(request), request.headers as Record<string, string>) as {
        data: { prefix: string }
      }
      await purge(data.prefix)
      response.writeHead(204).end()
    })
    await new Promise<void>((resolve) => purger.listen(0, '127.0.0.1', resolve))
    platform = await startTestPlatform({
      VITASCOPE_DELIVERY_PUBLIC_LISTEN: delivery,
      VITASCOPE_DELIVERY_PUBLIC_URL: cdn.url,
      VITASCOPE_TRUST_PROXY: '127.0.0.1',
      VITASCOPE_CDN_PURGE_URL: `http://127.0.0.1:${(purger.address() as AddressInfo).port}/purge`,
      VITASCOPE_CDN_PURGE_SECRET: SECRET,
    })
    tenant = await createTenant(platform.system)
  }, 180_000)
  afterAll(async () => {
    await platform?.remove()
    await cdn?.stop()
    purger?.close()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function purge(prefix: string): Promise<void> {
    for (const name of await readdir(cacheFolder)) {
      const path = join(cacheFolder, name)
      const content = (await readFile(path)).toString('latin1')
      if (/\nKEY: (.*)\n/.exec(content)?.[1]?.startsWith(prefix)) await rm(path)
    }
  }

  async function createPlayableVideo(): Promise<VideoRecord> {
    const api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`)
    return await waitUntilSettled(api, id)
  }
  const change = async (videoId: string, fields: Record<string, unknown>) =>
    expect((await platform.withKey(tenant.key).patch(`/video/${videoId}`, fields)).status).toBe(200)
  const read = async (url: string) => {
    const response = await fetch(url)
    await response.arrayBuffer()
    return { status: response.status, cache: response.headers.get('x-cache'), headers: response.headers }
  }
  const files = ({ uri }: VideoRecord) => [...new Set([...Object.values(uri.http), uri.poster_frame, uri.thumbnail, uri.audio])]

  test('files of a public video are cached, and have tags', async () => {
    const video = await createPlayableVideo()
    for (const url of files(video)) expect(await read(url)).toMatchObject({ status: 200, cache: 'MISS' })
    for (const url of files(video)) expect(await read(url)).toMatchObject({ status: 200, cache: 'HIT' })
    const { headers } = await read(video.uri.poster_frame)
    const version = new URL(video.uri.poster_frame).pathname.split('/')[3]
    expect(headers.get('cache-tag')).toBe(`video-${video.video_id},version-${version}`)
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  })

  test.each([
    ['protected', (videoId: string) => change(videoId, { security: { token_required_platform: true } })],
    ['disabled', (videoId: string) => change(videoId, { enabled: 0 })],
    [
      'deleted',
      async (videoId: string) => {
        const { body } = await platform.system.get<VideoRecord>(`/video/${videoId}`)
        expect((await platform.withKey(tenant.key).delete(`/media?media_id=${body.media_id}`)).status).toBe(200)
      },
    ],
  ])('no file of a %s video is sent from 5 s later', async (state, protect) => {
    const video = await createPlayableVideo()
    for (const url of files(video)) await read(url)
    expect(await read(video.uri.poster_frame)).toMatchObject({ cache: 'HIT' })
    await protect(video.video_id)
    const protectedMs = performance.now()
    for (const url of files(video)) {
      await waitFor(async () => (await read(url)).status === 404, { timeout: 20_000, interval: 50, describe: `404 of ${url}` })
    }
    const took = performance.now() - protectedMs
    recordFigure('A7', `cached files of a ${state} video rejected after ${Math.round(took)} ms`)
    expect(took).toBeLessThan(extendTimeout(PURGE_MS))
  })

  test('while the purge URL fails, calls are repeated until the files are removed', async () => {
    const video = await createPlayableVideo()
    for (const url of files(video)) await read(url)
    isPurgerDown = true
    await change(video.video_id, { enabled: 0 })
    await waitFor(
      async () => /cdn_purges_total\{[^}]*outcome="failed"[^}]*\} [1-9]/.test(await (await fetch(platform.metricsUrl)).text()),
      {
        timeout: 20_000,
      },
    )
    expect(await read(video.uri.poster_frame)).toMatchObject({ status: 200, cache: 'HIT' })
    isPurgerDown = false
    await waitFor(async () => (await read(video.uri.poster_frame)).status === 404, { timeout: 40_000, interval: 100 })
  })

  test('files of a protected video and of a video that expires soon are not cached longer than they are public', async () => {
    const video = await createPlayableVideo()
    await change(video.video_id, { security: { token_required_platform: true } })
    const api = platform.withKey(tenant.key)
    const { body: current } = await api.get<VideoRecord>(`/video/${video.video_id}`)
    const { body: issued } = await api.post<{ token: string }>(`/video/${video.video_id}/token`, { expires_in: 600 })
    const url = current.uri.poster_frame.replace(/(\/delivery\/\d+\/[^/]+)\//, `$1~${issued.token}/`)
    for (const _ of [1, 2]) expect(await read(url)).toMatchObject({ status: 200, cache: 'MISS' })
    expect((await read(current.uri.poster_frame)).status).toBe(403)
    await change(video.video_id, { security: { token_required_platform: false } })
    const { body: open } = await api.get<VideoRecord>(`/video/${video.video_id}`)
    await waitFor(async () => (await read(open.uri.poster_frame)).cache === 'HIT', { timeout: 20_000, describe: 'a cached poster' })
    const expiry = new Date(Date.now() + 100_000).toISOString().slice(0, 19).replace('T', ' ')
    await change(video.video_id, { content_expiry: { time: expiry } })
    await waitFor(async () => (await read(open.uri.poster_frame)).status === 404, { timeout: 20_000, describe: 'the poster to be purged' })
    const { body: expiring } = await api.get<VideoRecord>(`/video/${video.video_id}`)
    await waitFor(async () => {
      const seconds = Number(/max-age=(\d+)/.exec((await read(`${expiring.uri.poster_frame}`)).headers.get('cache-control') ?? '')?.[1])
      return seconds > 0 && seconds <= 100
    })
  })
})
