// Faults: A14
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { GetPlaybackPolicyResponse } from '@vitascope/proto/catalogue/v1/playback_policy'
import { signVideoToken } from '@vitascope/security'
import { extendTimeout, freePort, nginxPath, recordFigure, s3Path, startNginx, type TestNginx, waitFor } from '@vitascope/testing'
import { type BucketDelivery, startBucketDelivery } from './bucket-delivery.ts'

const MIB = 1024 * 1024
const BYTES = Buffer.from(Array.from({ length: 3 * MIB + 17 }, (_, index) => (index * 7) % 251))
const SETS = [{ version: 'v1', prefix: 'media/1/7-1' }]
const withPrograms = s3Path() === undefined || nginxPath() === undefined ? describe.skip : describe

withPrograms('nginx in front of delivery, with the configuration for a bucket', () => {
  const policies: Record<string, Partial<GetPlaybackPolicyResponse>> = { '1': { sets: SETS }, '2': { sets: SETS, tokenRequired: true } }
  let bucket: BucketDelivery
  let nginx: TestNginx
  beforeAll(async () => {
    const objects = {
      'media/1/7-1/h264_100.mp4': BYTES,
      'media/1/7-1/small.m4s': BYTES.subarray(0, 5_000),
      'media/1/7-1/hls/master.m3u8': Buffer.from('#EXTM3U'),
      'media/1/7-1/document.pdf': Buffer.from('%PDF-1.7'),
    }
    const publicListen = `127.0.0.1:${await freePort()}`
    bucket = await startBucketDelivery({ objects, policies, config: { publicListen, accelPath: '/objects/' } })
    const text = readFileSync(join(import.meta.dirname, '../../../deploy/nginx/bucket.conf'), 'utf8')
    nginx = await startNginx(({ port, folder }) =>
      text
        .replace('delivery:8082', publicListen)
        .replaceAll('objects:7070', new URL(bucket.store.endpoint).host)
        .replace('listen 8080', `listen 127.0.0.1:${port}`)
        .replace('/var/cache/nginx/objects', `${folder}/objects`),
    )
  }, 60_000)
  afterAll(async () => {
    await nginx?.stop()
    await bucket?.stop()
  })

  const get = (path: string, init: RequestInit = {}) => fetch(`${nginx.url}/delivery/${path}`, init)
  const read = async (response: Response) => Buffer.from(await response.arrayBuffer())
  const sign = async (videoId: string, seconds = 60) =>
    signVideoToken({ videoId, expires: new Date(Date.now() + seconds * 1_000) }, bucket.tokenKeys)

  test('a file is read from the bucket once, in pieces, and later from the cache', async () => {
    const first = await get('1/v1/h264_100.mp4')
    expect([first.status, first.headers.get('content-type'), first.headers.get('cache-control')]).toEqual([
      200,
      'video/mp4',
      'public, max-age=31536000, immutable',
    ])
    expect((await read(first)).equals(BYTES)).toBe(true)
    const second = await get('1/v1/h264_100.mp4')
    expect(second.headers.get('x-cache')).toBe('HIT')
    expect((await read(second)).equals(BYTES)).toBe(true)
    const range = await get('1/v1/h264_100.mp4', { headers: { range: `bytes=${MIB - 10}-${MIB + 9}` } })
    expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes ${MIB - 10}-${MIB + 9}/${BYTES.length}`])
    expect((await read(range)).equals(BYTES.subarray(MIB - 10, MIB + 10))).toBe(true)
    expect((await get('1/v1/h264_100.mp4', { headers: { range: `bytes=${BYTES.length}-` } })).status).toBe(416)
  })

  test('no header or address of the bucket reaches the client', async () => {
    const response = await get('1/v1/small.m4s')
    expect((await read(response)).length).toBe(5_000)
    const headers = JSON.stringify([...response.headers])
    expect(response.headers.get('content-type')).toBe('video/iso.segment')
    for (const secret of ['X-Amz', 'x-amz-', 'x-accel', bucket.store.accessKeyId, new URL(bucket.store.endpoint).host])
      expect([secret, headers.toLowerCase().includes(secret.toLowerCase())]).toEqual([secret, false])
  })

  test('a protected file is cached for all viewers, and each request requires a valid token', async () => {
    expect((await get('2/v1/small.m4s')).status).toBe(403)
    const [one, two] = [await sign('2'), await sign('2', 61)]
    const first = await get(`2/v1~${one}/small.m4s`)
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'private, max-age=60'])
    const second = await get(`2/v1~${two}/small.m4s`)
    expect([second.status, second.headers.get('x-cache')]).toEqual([200, 'HIT'])
    const rejected = [await get('2/v1/small.m4s'), await get(`2/v1~${await sign('1')}/small.m4s`), await get(`2/v1~x${one}/small.m4s`)]
    expect(rejected.map(({ status }) => status)).toEqual([403, 401, 401])
    for (const response of rejected) expect((await read(response)).length).toBeLessThan(1_000)
  })

  test('a cached file is not sent from 5 s after its video was disabled', async () => {
    policies['3'] = { sets: SETS }
    expect((await get('3/v1/small.m4s')).status).toBe(200)
    policies['3'] = { sets: [] }
    const disabledMs = performance.now()
    await waitFor(async () => (await get('3/v1/small.m4s')).status === 404, { timeout: 20_000, interval: 50 })
    const took = performance.now() - disabledMs
    recordFigure('A14', `nginx: file of a disabled video rejected after ${Math.round(took)} ms`)
    expect(took).toBeLessThan(extendTimeout(5_000))
  })

  test('playlists come from delivery, and missing files are 404', async () => {
    expect(await (await get('1/v1/hls/master.m3u8')).text()).toContain('#EXTM3U')
    expect((await get('1/v1/missing.m4s')).status).toBe(404)
    expect((await fetch(`${nginx.url}/objects/videos/media/1/7-1/small.m4s`)).status).toBe(404)
    expect((await get('1/v1/document.pdf')).headers.get('content-disposition')).toBe('attachment')
  })
})
