// Faults: B10, A14
import { randomBytes, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { GetPresentationPolicyResponse } from '@vitascope/proto/catalogue/v1/playback_policy'
import { signVideoToken } from '@vitascope/security'
import { extendTimeout, shortestDurationMs, waitFor } from '@vitascope/testing'
import {
  addVideo,
  BYTES,
  current,
  get,
  getUnresolved,
  inOneHour,
  PLAYLIST,
  policies,
  presentationPolicies,
  requested,
  startDeliveryForTests,
  storage,
  tokenKeys,
} from './delivery-under-test.ts'

startDeliveryForTests()

describe('a file of a public video', () => {
  test('is returned with long caching and CORS headers', async () => {
    const response = await get(`${addVideo()}/v1/hls/master.m3u8`)
    expect([response.status, await response.text()]).toEqual([200, PLAYLIST])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/vnd.apple.mpegurl',
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    })
  })
  test('is counted in the metrics of sent bytes and first bytes', async () => {
    const measure = async () => {
      const text = await (await fetch(`http://127.0.0.1:${current.metricsPort}/metrics`)).text()
      const [bytes, first] = ['sent_bytes_total', 'first_byte_seconds_count'].map((name) =>
        Number(new RegExp(`^vitascope_delivery_${name}\\{.*\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0),
      )
      return { bytes: bytes ?? 0, first: first ?? 0 }
    }
    const path = `${addVideo()}/v1/h264_100.mp4`
    const before = await measure()
    await (await get(path)).arrayBuffer()
    await (await get(path, { headers: { range: 'bytes=0-99' } })).arrayBuffer()
    await get(`${addVideo()}/v9/h264_100.mp4`)
    await waitFor(async () => {
      const { bytes, first } = await measure()
      const [sent, started] = [bytes - before.bytes, first - before.first]
      // 1,100 bytes of files and the headers of three responses.
      return started === 2 && sent > 1_100 && sent < 5_000
    })
  })
  test('is counted as missing if its set does not have it, and a wrong version is not', async () => {
    const countMissing = async () => {
      const text = await (await fetch(`http://127.0.0.1:${current.metricsPort}/metrics`)).text()
      return Number(/^vitascope_delivery_missing_files_total\{.*\} (\d+)$/m.exec(text)?.[1])
    }
    const before = await countMissing()
    const id = addVideo()
    const statuses = await Promise.all(
      ['v1/h264_900.mp4', 'v1/hls/none.m4s', 'v9/h264_100.mp4'].map(async (path) => (await get(`${id}/${path}`)).status),
    )
    expect(statuses).toEqual([404, 404, 404])
    expect((await countMissing()) - before).toBe(2)
  })
  test('has the status 499 in the metrics if its client disconnects before the response', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    current.catalogueDelay = promise
    const path = `${addVideo()}/v1/h264_100.mp4`
    const callsBefore = current.catalogueCalls
    const disconnect = new AbortController()
    const request = get(path, { signal: disconnect.signal })
    request.catch(() => {})
    await waitFor(() => current.catalogueCalls > callsBefore, { describe: 'delivery to request the policy' })
    disconnect.abort()
    await expect(request).rejects.toThrow()
    const count = /^vitascope_delivery_request_duration_seconds_count\{.*status="499".*\} 1$/m
    await waitFor(async () => count.test(await (await fetch(`http://127.0.0.1:${current.metricsPort}/metrics`)).text()))
    current.catalogueDelay = undefined
    resolve()
  })
  test('returns its length without a body to HEAD', async () => {
    const response = await get(`${addVideo()}/v1/h264_100.mp4`, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '1000', ''])
  })
  test('returns 304 for its own ETag', async () => {
    const id = addVideo()
    const etag = (await get(`${id}/v1/h264_100.mp4`, { method: 'HEAD' })).headers.get('etag') ?? ''
    expect((await get(`${id}/v1/h264_100.mp4`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  })
  describe.each([
    ['storage', 0],
    ['memory', 2],
  ])('from %s', (_, requestsBefore) => {
    /** Returns the path of a new object. It is in memory after two requests. */
    const newFile = async (bytes: Buffer) => {
      const file = `range-${randomUUID()}.mp4`
      await storage.put(`media/1/7-1/${file}`, bytes)
      const path = `${addVideo()}/v1/${file}`
      for (let nth = 0; nth < requestsBefore; nth++) await (await get(path)).arrayBuffer()
      return path
    }
    test.each([
      ['bytes=0-9', 206, 'bytes 0-9/1000', BYTES.subarray(0, 10)],
      ['bytes=990-', 206, 'bytes 990-999/1000', BYTES.subarray(990)],
      ['bytes=-5', 206, 'bytes 995-999/1000', BYTES.subarray(995)],
      ['bytes=900-5000', 206, 'bytes 900-999/1000', BYTES.subarray(900)],
      ['bytes=1000-', 416, 'bytes */1000', Buffer.alloc(0)],
      ['bytes=5-2', 200, null, BYTES],
      ['bytes=0-1,5-6', 200, null, BYTES],
      ['chapters=1-2', 200, null, BYTES],
    ])('responds to the range %s with %i', async (range, status, contentRange, bytes) => {
      const response = await get(await newFile(BYTES), { headers: { range } })
      expect([response.status, response.headers.get('content-range')]).toEqual([status, contentRange])
      expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), bytes)).toBe(0)
    })
    test('sends objects of several read buffers, and an empty object', async () => {
      for (const bytes of [randomBytes(2.5 * 1024 * 1024), Buffer.alloc(0)]) {
        const path = await newFile(bytes)
        const [whole, head, part] = [
          await get(path),
          await get(path, { method: 'HEAD' }),
          await get(path, { headers: { range: 'bytes=1048570-2097160' } }),
        ]
        expect(Buffer.compare(Buffer.from(await whole.arrayBuffer()), bytes)).toBe(0)
        expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(bytes.length), ''])
        expect(part.status).toBe(bytes.length === 0 ? 416 : 206)
        expect(Buffer.compare(Buffer.from(await part.arrayBuffer()), bytes.subarray(1048570, 2097161))).toBe(0)
      }
    })
    test('is sent completely to each of many clients, some of which disconnect', async () => {
      const bytes = randomBytes(2 * 1024 * 1024)
      const path = await newFile(bytes)
      const results = await Promise.all(
        Array.from({ length: 40 }, async (_, nth) => {
          const hangUp = new AbortController()
          const response = await get(path, { signal: hangUp.signal })
          if (nth % 2 === 0) return Buffer.compare(Buffer.from(await response.arrayBuffer()), bytes)
          await response.body?.getReader().read()
          hangUp.abort()
          return 0
        }),
      )
      expect(results).toEqual(Array.from({ length: 40 }, () => 0))
    })
  })
  test.each(['v2/h264_100.mp4', 'v1/none.mp4', 'v1/../../../secret/file.txt', 'v1/%2e%2e/x', 'v1//h264_100.mp4', 'v1/h264_100.mp4/', 'v1'])(
    'responds to the path %s with 404',
    async (rest) => {
      expect(await getUnresolved(`${addVideo()}/${rest}`)).toBe(404)
    },
  )
  test('returns 416 that no cache may store to a range outside of the file', async () => {
    const { status, headers } = await get(`${addVideo()}/v1/h264_100.mp4`, { headers: { range: 'bytes=1000-' } })
    expect([status, headers.get('cache-control'), headers.get('cache-tag'), headers.get('etag')]).toEqual([416, 'no-store', null, null])
  })
  test('returns 405 to PUT', async () => {
    const response = await get(`${addVideo()}/v1/h264_100.mp4`, { method: 'PUT', body: 'x' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })
  test('returns 404 after the video has expired', async () => {
    expect((await get(`${addVideo({ expireTime: new Date(Date.now() - 1) })}/v1/h264_100.mp4`)).status).toBe(404)
  })
})

describe('a video that is still being encoded', () => {
  const preview = () => [{ version: 'v1', prefix: 'preview/7' }]
  test('has playlists that caches revalidate, and segments from the folder of each chunk', async () => {
    current.lastSegment = 2
    const id = addVideo({ sets: preview() })
    for (const [file, body] of [
      ['hls/master.m3u8', PLAYLIST],
      ['hls/h264_100/index.m3u8', '#EXTM3U 2'],
      ['hls/h264_100/init.mp4', 'init'],
      ['hls/h264_100/seg-00001.m4s', 'one'],
      ['hls/h264_100/seg-00002.m4s', 'seg-00002'],
      ['hls/h264_100/seg-00010.m4s', 'seg-00010'],
    ] as const) {
      const response = await get(`${id}/v1/${file}`)
      expect([file, response.status, await response.text()]).toEqual([file, 200, body])
      const caching = file.endsWith('.m3u8') ? 'public, max-age=0, must-revalidate' : 'public, max-age=31536000, immutable'
      expect(response.headers.get('cache-control')).toBe(caching)
    }
    for (const file of ['hls/h264_100/seg-00011.m4s', 'h264_100.mp4', 'hls/h264_100', 'hls/h264_100/seg-1.m4s']) {
      expect([file, (await get(`${id}/v1/${file}`)).status]).toEqual([file, 404])
    }
  })
  test('shows new segments within seconds, with one request to encoding per second', async () => {
    current.lastSegment = 2
    const id = addVideo({ sets: preview() })
    requested.length = 0
    const playlist = async () => (await get(`${id}/v1/hls/h264_250/index.m3u8`)).text()
    expect(await Promise.all(Array.from({ length: 20 }, playlist))).toEqual(Array(20).fill('#EXTM3U 2'))
    expect(requested).toEqual(['h264_250'])
    current.lastSegment = 3
    await waitFor(async () => (await playlist()) === '#EXTM3U 3')
    const tag = (await get(`${id}/v1/hls/h264_250/index.m3u8`)).headers.get('etag') ?? ''
    expect((await get(`${id}/v1/hls/h264_250/index.m3u8`, { headers: { 'if-none-match': tag } })).status).toBe(304)
  })
  test('stays available at the same address when encoding finishes', async () => {
    current.lastSegment = 2
    const id = addVideo({ sets: preview() })
    expect((await get(`${id}/v1/hls/h264_360/index.m3u8`)).status).toBe(200)
    current.lastSegment = undefined
    addVideo()
    const seen = new Set<string>()
    await waitFor(async () => {
      const response = await get(`${id}/v1/hls/h264_100/index.m3u8`)
      seen.add(`${response.status} ${await response.text()}`)
      return seen.has('200 #EXTM3U all')
    })
    expect([...seen].filter((result) => !result.startsWith('200'))).toEqual([])
  })
  test('is checked against the token and version like a finished video', async () => {
    current.lastSegment = 2
    const id = addVideo({ sets: preview(), tokenRequired: true })
    expect((await get(`${id}/v1/hls/h264_100/seg-00001.m4s`)).status).toBe(403)
    expect((await get(`${id}/v2/hls/h264_100/seg-00001.m4s`)).status).toBe(404)
  })
})

/** Delivery caches a policy for 2 s. A change that applies earlier was read before the end of that time. */
const BELOW_CACHE_MS = 1_500

test('a changed policy takes effect within 5 s, and the earlier address then returns 404', async () => {
  const id = addVideo()
  const status = async () => (await get(`${id}/v1/h264_100.mp4`)).status
  expect(await status()).toBe(200)
  policies.set(id, { sets: [{ version: 'v2', prefix: 'media/1/7-1' }], tokenRequired: true })
  const began = Date.now()
  await waitFor(async () => (await status()) === 404, { timeout: 5_000, describe: 'the old address to return 404' })
  expect(Date.now() - began).toBeLessThan(extendTimeout(5_000))
})

test('a new address works as soon as the record has it, although the earlier policy is cached', async () => {
  const measureDelay = async () => {
    const id = addVideo()
    const began = Date.now()
    expect((await get(`${id}/v1/h264_100.mp4`)).status).toBe(200)
    policies.set(id, { sets: [{ version: 'v2', prefix: 'media/1/7-1' }] })
    await waitFor(async () => (await get(`${id}/v2/h264_100.mp4`)).status === 200, { describe: 'the new address to return the file' })
    return Date.now() - began
  }
  expect(await shortestDurationMs(BELOW_CACHE_MS, measureDelay)).toBeLessThan(BELOW_CACHE_MS)
})

describe('the picture of a video', () => {
  const poster = { jobId: '12', prefix: 'media/1/12-1' }
  beforeAll(async () => {
    await storage.put(`${poster.prefix}/poster.jpg`, Buffer.from('a picture'))
  })

  test('is served below each set', async () => {
    const id = addVideo({ poster })
    for (const { version } of current.sets) {
      const response = await get(`${id}/${version}/posters/12/poster.jpg`)
      expect([response.status, await response.text()]).toEqual([200, 'a picture'])
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    expect((await get(`${id}/v1/posters/13/poster.jpg`)).status).toBe(404)
  })

  test('is served for a video without files', async () => {
    const id = addVideo({ poster, masterPath: '', sets: [{ version: 'v3', prefix: poster.prefix }] })
    expect((await get(`${id}/v3/posters/12/poster.jpg`)).status).toBe(200)
    expect((await get(`${id}/v3/hls/master.m3u8`)).status).toBe(404)
  })

  test('is served as soon as the record has it, although the earlier policy is cached', async () => {
    const measureDelay = async () => {
      const id = addVideo()
      expect((await get(`${id}/v1/posters/12/poster.jpg`)).status).toBe(404)
      const began = Date.now()
      policies.set(id, { sets: current.sets, poster })
      await waitFor(async () => (await get(`${id}/v1/posters/12/poster.jpg`)).status === 200, { describe: 'the picture' })
      return Date.now() - began
    }
    expect(await shortestDurationMs(BELOW_CACHE_MS, measureDelay)).toBeLessThan(BELOW_CACHE_MS)
  })

  test('requires a token like the other files', async () => {
    expect((await get(`${addVideo({ poster, tokenRequired: true })}/v1/posters/12/poster.jpg`)).status).toBe(403)
  })
})

describe('a presentation', () => {
  const both = [
    { version: 'v1', prefix: 'slides/5/8-1' },
    { version: 'v2', prefix: 'slides/5/9-2' },
  ]
  const addPresentation = (policy: Partial<GetPresentationPolicyResponse> = {}) => {
    presentationPolicies.set(String(current.video), { sets: both, ...policy })
    return `presentation/${current.video}`
  }
  const statuses = (paths: string[]) => Promise.all(paths.map(async (path) => (await get(path)).status))

  test('has slides of several versions and its PDF, which is a sandboxed download', async () => {
    const path = addPresentation()
    const [first, second, pdf] = await Promise.all(
      ['v1/slide-0001.jpg', 'v2/slide-0001.jpg', 'v1/document.pdf'].map((file) => get(`${path}/${file}`)),
    )
    expect([first?.status, second?.status, pdf?.status]).toEqual([200, 200, 200])
    expect([first, second].map((result) => result?.headers.get('content-length'))).toEqual(['1000', '999'])
    expect([first, pdf].map((result) => result?.headers.get('content-type'))).toEqual(['image/jpeg', 'application/pdf'])
    expect(pdf?.headers.get('x-content-type-options')).toBe('nosniff')
    expect(pdf?.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(pdf?.headers.get('content-disposition')).toBe('attachment')
    expect([first?.headers.get('content-security-policy'), first?.headers.get('content-disposition')]).toEqual([null, null])
  })
  test('does not share files with a video of the same id', async () => {
    const path = addPresentation()
    expect(
      await statuses([`${path}/v1/slide-0001.jpg`, `${current.video}/v1/slide-0001.jpg`, `presentation/${addVideo()}/v3/slide-0001.jpg`]),
    ).toEqual([200, 404, 404])
  })
  test('requires a token of its video if the video requires one', async () => {
    const path = addPresentation({ tokenRequired: true, videoId: '77' })
    const ofVideo = await signVideoToken({ videoId: '77', expires: inOneHour() }, tokenKeys)
    const ofItself = await signVideoToken({ videoId: String(current.video), expires: inOneHour() }, tokenKeys)
    const names = ['v1', `v1~${ofItself}`, `v1~${ofVideo}`, `v2~${ofVideo}`]
    expect(await statuses(names.map((name) => `${path}/${name}/slide-0001.jpg`))).toEqual([403, 401, 200, 200])
    const redirect = await get(`${path}/v1/slide-0001.jpg?token=${ofVideo}`)
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, `/delivery/${path}/v1~${ofVideo}/slide-0001.jpg`])
  })
  test('rejects every token if it has no video', async () => {
    const empty = await signVideoToken({ videoId: String(current.video), expires: inOneHour() }, tokenKeys)
    expect(await statuses([`${addPresentation()}/v1~${empty}/slide-0001.jpg`])).toEqual([401])
  })
  test('returns 403 to an address that is not allowed, and 404 after it has expired', async () => {
    const path = addPresentation({ allowedIps: ['203.0.113.0/24'] })
    expect((await get(`${path}/v1/slide-0001.jpg`, { from: '203.0.113.9' })).status).toBe(200)
    expect((await get(`${path}/v1/slide-0001.jpg`, { from: '198.51.100.1' })).status).toBe(403)
    current.video++
    expect(await statuses([`${addPresentation({ expireTime: new Date(Date.now() - 1) })}/v1/slide-0001.jpg`])).toEqual([404])
  })
})
