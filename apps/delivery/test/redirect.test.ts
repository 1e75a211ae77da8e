// Faults: A19
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { GetPlaybackPolicyResponse } from '@vitascope/proto/catalogue/v1/playback_policy'
import { signVideoToken } from '@vitascope/security'
import { s3Path } from '@vitascope/testing'
import { type BucketDelivery, startBucketDelivery } from './bucket-delivery.ts'

const BYTES = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 251))
const SETS = [{ version: 'v1', prefix: 'media/1/7-1' }]
const withS3 = s3Path() === undefined ? describe.skip : describe

withS3('files of a bucket with redirects', () => {
  const policies: Record<string, Partial<GetPlaybackPolicyResponse>> = {
    '1': { sets: SETS },
    '2': { sets: SETS, tokenRequired: true },
    '3': { sets: SETS, allowedIps: ['203.0.113.0/24'] },
  }
  let bucket: BucketDelivery
  beforeAll(async () => {
    const objects = {
      'media/1/7-1/h264_100.mp4': BYTES,
      'media/1/7-1/hls/master.m3u8': Buffer.from('#EXTM3U'),
      'media/1/7-1/sprite.vtt': Buffer.from('WEBVTT'),
      'media/1/7-1/document.pdf': Buffer.from('%PDF-1.7'),
    }
    bucket = await startBucketDelivery({ objects, policies, config: { s3Mode: 'redirect' } })
  }, 60_000)
  afterAll(() => bucket?.stop())

  const get = (path: string, init: RequestInit = {}) => fetch(`http://${bucket.address}/delivery/${path}`, init)

  test('an admitted client is redirected to a URL in the bucket that is valid for 5 min and is not cached', async () => {
    const redirect = await get('1/v1/h264_100.mp4', { redirect: 'manual' })
    expect([redirect.status, redirect.headers.get('cache-control'), await redirect.text()]).toEqual([302, 'no-store', ''])
    const address = new URL(redirect.headers.get('location') ?? '')
    expect(`${address.origin}${address.pathname}`).toBe(`${bucket.store.endpoint}/videos/media/1/7-1/h264_100.mp4`)
    expect(Number(address.searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(300)
    const whole = await get('1/v1/h264_100.mp4')
    expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    expect(Buffer.from(await whole.arrayBuffer()).equals(BYTES)).toBe(true)
    const part = await get('1/v1/h264_100.mp4', { headers: { range: 'bytes=100-199' } })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 100-199/1000'])
    expect(Buffer.from(await part.arrayBuffer()).equals(BYTES.subarray(100, 200))).toBe(true)
    const head = await get('1/v1/h264_100.mp4', { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '1000'])
    expect((await get('1/v1/none.mp4')).status).toBe(404)
    address.searchParams.set('X-Amz-Expires', '86400')
    expect((await fetch(address)).status).toBe(403)
  })

  test('a redirected document has the disposition "attachment"', async () => {
    const response = await get('1/v1/document.pdf')
    expect([response.status, response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
      200,
      'application/pdf',
      'attachment',
    ])
    await response.body?.cancel()
  })

  test.each(['hls/master.m3u8', 'sprite.vtt'])('%s is sent without a redirect, because its references are relative', async (file) => {
    const sent = await get(`1/v1/${file}`, { redirect: 'manual' })
    expect([sent.status, sent.headers.get('location')]).toEqual([200, null])
  })

  test('a rejected caller gets no redirect', async () => {
    const token = await signVideoToken({ videoId: '2', expires: new Date(Date.now() + 3_600_000) }, bucket.tokenKeys)
    const foreign = await signVideoToken({ videoId: '1', expires: new Date(Date.now() + 3_600_000) }, bucket.tokenKeys)
    const responses = []
    for (const path of ['2/v1', `2/v1~${foreign}`, '3/v1', '1/v2', '9/v1', `2/v1~${token}`]) {
      const response = await get(`${path}/h264_100.mp4`, { redirect: 'manual' })
      responses.push([response.status, response.headers.get('location') !== null])
      await response.arrayBuffer()
    }
    expect(responses).toEqual([403, 401, 403, 404, 404, 302].map((status) => [status, status === 302]))
  })
})
