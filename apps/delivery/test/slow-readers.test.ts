// Faults: R1
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import {
  GetPlaybackPolicyResponse,
  GetPresentationPolicyResponse,
  PlaybackPolicyServiceService,
} from '@vitascope/proto/catalogue/v1/playback_policy'
import { openS3Storage } from '@vitascope/storage'
import { createMetrics } from '@vitascope/telemetry'
import { extendTimeout, freePort, recordFigure, s3Path, startS3, type TestS3, testLog, testTokenKeys, waitFor } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { startDelivery } from '../src/service.ts'

const READERS = 128
const FILE = randomBytes(24 * 1024 * 1024)
const PATH = '/delivery/1/v1/h264_100.mp4'
const withS3 = s3Path() === undefined ? describe.skip : describe

withS3('large files of a bucket', () => {
  let store: TestS3
  let catalogue: GrpcServer
  let delivery: Awaited<ReturnType<typeof startDelivery>>
  let metricsPort: number
  const sockets = new Set<Socket>()
  beforeAll(async () => {
    store = await startS3()
    await openS3Storage(store).put('media/1/7-1/h264_100.mp4', FILE)
    catalogue = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('test') })
    catalogue.implement(PlaybackPolicyServiceService, {
      getPlaybackPolicy: async () => GetPlaybackPolicyResponse.fromPartial({ sets: [{ version: 'v1', prefix: 'media/1/7-1' }] }),
      getPresentationPolicy: async () => GetPresentationPolicyResponse.fromPartial({}),
    })
    const { endpoint, region, bucket, accessKeyId, secretAccessKey } = store
    metricsPort = await freePort()
    delivery = await startDelivery(
      {
        listen: '127.0.0.1:0',
        metricsListen: `127.0.0.1:${metricsPort}`,
        catalogueAddress: await catalogue.listen('127.0.0.1:0'),
        encodingAddress: '127.0.0.1:1',
        principalKeys: testKeyFiles('delivery'),
        tokenKeysFile: testTokenKeys().tokenKeysFile,
        objects: { s3: { endpoint, region, bucket, accessKeyId, secretAccessKey, virtualHost: false } },
        s3Mode: 'proxy' as const,
        storageReads: 48,
        cacheBytes: 1024 * 1024,
        publicTrustedProxies: [],
        limits: 'off',
        allowedCrawlers: [],
        outageSeconds: 600,
        downloads: { perAddress: READERS + 1, total: 4_096 },
        trustedProxies: [],
      },
      testLog,
    )
  }, 60_000)
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    await delivery?.stop(0)
    await catalogue?.drain()
    await store?.stop()
  })

  /** Requests the file and reads only the beginning of the response. Repeats the request if the store is too slow for it. */
  async function stall(): Promise<string> {
    for (;;) {
      const response = await stallOnce()
      if (response !== 'HTTP/1.1 503') return response
    }
  }
  async function stallOnce(): Promise<string> {
    const [host, port] = delivery.address.split(':')
    const socket = connect(Number(port), host)
    sockets.add(socket)
    let response = ''
    socket
      .on('error', () => {})
      .once('data', (data) => {
        response = data.toString('latin1', 0, 12)
        socket.pause()
      })
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: h\r\n\r\n`)
    return await waitFor(() => response)
  }
  /** Works in groups of 16, so that each first read takes only seconds on a slow machine too. */
  async function stallMany(count: number): Promise<string[]> {
    const responses: string[] = []
    while (responses.length < count)
      responses.push(...(await Promise.all(Array.from({ length: Math.min(16, count - responses.length) }, stall))))
    return responses
  }
  const metric = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    return Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1])
  }

  test(`${READERS} stalled readers do not delay another reader, which receives the bytes of the file`, async () => {
    const responses = await stallMany(READERS)
    expect(new Set(responses)).toEqual(new Set(['HTTP/1.1 200']))
    const started = performance.now()
    const next = await fetch(`http://${delivery.address}${PATH}`, { headers: { range: 'bytes=5000000-5999999' } })
    const bytes = Buffer.from(await next.arrayBuffer())
    const took = performance.now() - started
    recordFigure('R1', `with ${READERS} stalled readers, another one gets 1 MB in ${Math.round(took)} ms`)
    expect([next.status, bytes.equals(FILE.subarray(5_000_000, 6_000_000))]).toEqual([206, true])
    expect(took).toBeLessThan(extendTimeout(5_000))
    const whole = Buffer.from(await (await fetch(`http://${delivery.address}${PATH}`)).arrayBuffer())
    expect(whole.equals(FILE)).toBe(true)
    expect(await metric('vitascope_delivery_downloads{service="delivery"}')).toBe(READERS)
    expect(await metric('vitascope_delivery_storage_reads{state="active",service="delivery"}')).toBe(0)
    expect(await metric('vitascope_delivery_storage_held_bytes{service="delivery"}')).toBeLessThanOrEqual(64 * 1024 * 1024)
  }, 60_000)

  test('a client at its limit of concurrent downloads replaces its stalled download with a new one', async () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    await waitFor(async () => (await metric('vitascope_delivery_downloads{service="delivery"}')) === 0)
    await stallMany(READERS + 1)
    // New requests are rejected until a stalled download has been slow for 1 s.
    const next = await waitFor(async () => {
      const response = await fetch(`http://${delivery.address}${PATH}`, { headers: { range: 'bytes=0-9' } })
      if (response.status === 429) expect(response.headers.get('retry-after')).toBe('1')
      return response.status === 206 ? response : undefined
    })
    expect((await next.arrayBuffer()).byteLength).toBe(10)
    expect(await metric('vitascope_delivery_downloads{service="delivery"}')).toBeLessThanOrEqual(READERS + 1)
  }, 60_000)
})
