// Faults: R13
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isDomainError } from '@vitascope/errors'
import { openChannel, serviceCall } from '@vitascope/grpc'
import { ListVideosRequest, UploadVideoRequest, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import type { RunningGrpcService } from '@vitascope/service'
import { extendTimeout, type FaultProxy, freePort, recordFigure, startFaultProxy, testLog, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { startCatalogue } from '../src/service.ts'
import { type CatalogueDatabase, catalogueDatabase } from './catalogue-database.ts'
import { serviceConfig } from './service-config.ts'
import { authStandIn, encodingStandIn } from './stand-ins.ts'

const LATE_MS = 5_000
const DEADLINE_MS = 2_000
/** It takes 200 ms on a quiet machine. */
const OVER_MS = 2_000
/** It takes 5 s on a quiet machine. */
const CALM_MS = 50_000

let database: CatalogueDatabase
let proxy: FaultProxy
let service: RunningGrpcService
let encoding: ReturnType<typeof encodingStandIn>
let auth: Awaited<ReturnType<typeof authStandIn>>
let channel: ReturnType<typeof openChannel>

beforeAll(async () => {
  database = await catalogueDatabase()
  const url = new URL(database.url)
  proxy = await startFaultProxy(url.host)
  url.host = proxy.address
  auth = await authStandIn()
  encoding = encodingStandIn(`127.0.0.1:${await freePort()}`)
  await encoding.start()
  service = await startCatalogue(
    serviceConfig({
      databaseUrl: url.href,
      encodingAddress: encoding.address,
      authAddress: auth.address,
      reconcile: { everyMs: 60_000, staleSeconds: 30, resultSeconds: 600 },
    }),
    testLog,
  )
  channel = openChannel(service.address, { service: 'catalogue', principals: testPrincipals() })
})
afterAll(async () => {
  proxy.delayMs = 0
  channel.close()
  await service.stop()
  await encoding.stop()
  await auth.stop()
  await proxy.close()
  await database.close()
})

test(`with a database delay of ${LATE_MS / 1_000} s, calls fail at their deadline, few of them are pending, and the service recovers`, async () => {
  const videos = channel.client(VideoServiceService)
  const principal = { kind: 'user', keyId: '3', userId: '7', organisationId: '1', userType: 'uploader' } as const
  const call = () => ({ ...serviceCall('test', 'r'), principal, deadline: new Date(Date.now() + DEADLINE_MS) })
  const upload = UploadVideoRequest.fromPartial({ organisationId: '1', sourceUrl: 'https://example.org/launch.mp4' })
  const read = () => videos.listVideos(ListVideosRequest.fromPartial({ organisationId: '1', pageSize: 20 }), call())
  const write = () => videos.uploadVideo(upload, call())
  await Promise.all([read(), write()])

  proxy.delayMs = LATE_MS
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      const began = performance.now()
      const refused = await (n % 10 === 0 ? write() : read()).then(
        () => 'answered',
        (error: unknown) => (isDomainError(error) ? error.kind : String(error)),
      )
      return { refused, ms: performance.now() - began }
    }),
  )
  expect(new Set(outcomes.map(({ refused }) => refused))).toEqual(new Set(['unavailable']))
  const slowest = Math.max(...outcomes.map(({ ms }) => ms))
  recordFigure('R13', `slowest of ${outcomes.length} calls rejected after ${Math.round(slowest)} ms, with a deadline of ${DEADLINE_MS} ms`)
  expect(slowest).toBeLessThan(extendTimeout(DEADLINE_MS + OVER_MS))
  // Two pools of 4, plus abandoned connections that are closing; not one per call.
  expect(proxy.connections()).toBeLessThanOrEqual(20)

  proxy.delayMs = 0
  const began = performance.now()
  await waitFor(
    async () => {
      const requested = performance.now()
      await Promise.all([read(), write()])
      return performance.now() - requested < 1_000
    },
    { timeout: CALM_MS, describe: 'quick answers' },
  )
  recordFigure('R13', `calls succeed ${Math.round(performance.now() - began)} ms after the delay ends`)
}, 120_000)
