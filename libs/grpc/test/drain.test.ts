// Faults: C23
import { credentials, Client as GrpcClient, type ServiceError } from '@grpc/grpc-js'
import { afterEach, expect, test } from '@jest/globals'
import { GetVideoResponse, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { createLogger, createMetrics } from '@vitascope/telemetry'
import { freePort, recordFigure, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { createGrpcServer, openChannel, serviceCall } from '../src/index.ts'

const log = createLogger({ service: 'test', level: 'silent' })
/** Named like a write, so the client never retries it. */
const WRITE = { writeVideo: VideoServiceService.getVideo }
const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function serve(address: string, handle: () => Promise<void> = async () => {}, connectionSeconds = 120) {
  const serveSettings = { healthListen: '127.0.0.1:0', connectionSeconds }
  const server = createGrpcServer({ principals: testPrincipals(), serve: serveSettings, log, metrics: createMetrics('test') })
  server.implement(WRITE, { writeVideo: async () => handle().then(() => GetVideoResponse.create()) })
  const bound = await server.listen(address)
  undo.push(() => server.drain(0))
  return { server, address: bound }
}

function writer(address: string) {
  const channel = openChannel(address, { service: 'catalogue', principals: testPrincipals() })
  undo.push(channel.close)
  return () => channel.client(WRITE).writeVideo({ videoId: '7' }, serviceCall('test', 'r'))
}

function health(address: string): () => Promise<number | undefined> {
  const client = new GrpcClient(address, credentials.createInsecure())
  undo.push(() => client.close())
  const asIs = (bytes: Buffer) => bytes
  return () =>
    new Promise((resolve, reject) =>
      client.makeUnaryRequest('/grpc.health.v1.Health/Check', asIs, asIs, Buffer.alloc(0), (error: ServiceError | null, answer) =>
        error ? reject(error) : resolve(answer?.[1]),
      ),
    )
}

test('drain rejects new calls, reports NOT_SERVING at once, and resolves when running calls have ended', async () => {
  let started = 0
  let finish = () => {}
  const { server, address } = await serve('127.0.0.1:0', () => {
    started++
    return new Promise((resolve) => (finish = resolve))
  })
  const probe = health(server.healthAddress() ?? '')
  const running = writer(address)()
  await waitFor(() => started === 1)
  expect(await probe()).toBe(1)
  let over = false
  const drained = server.drain(600_000).then(() => (over = true))
  expect([await probe(), server.isServing()]).toEqual([2, false])
  // A recovered dependency does not set it to serving again.
  server.setServing(true)
  expect([await probe(), over]).toEqual([2, false])
  await expect(writer(address)()).rejects.toMatchObject({ kind: 'unavailable' })
  finish()
  expect(await running).toEqual(GetVideoResponse.create())
  await drained
})

test('a call that exceeds the grace period is cancelled', async () => {
  let started = 0
  const { server, address } = await serve('127.0.0.1:0', () => {
    started++
    return new Promise(() => {})
  })
  const running = writer(address)().catch((error: unknown) => error)
  await waitFor(() => started === 1)
  await server.drain(50)
  expect(await running).toMatchObject({ kind: 'unavailable' })
})

test('when two replicas are replaced in turn five times under writes, each write is executed once and none fails', async () => {
  const addresses = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const served = [0, 0]
  // Connections are short-lived too: their end must not fail a call either.
  const start = async (nth: number) => serve(addresses[nth] ?? '', async () => void served.splice(nth, 1, (served[nth] ?? 0) + 1), 0.5)
  const replicas = [await start(0), await start(1)]
  const write = writer(`ipv4:${addresses.join(',')}`)
  const failures: unknown[] = []
  let answered = 0
  const stop = new AbortController()
  const callers = Array.from({ length: 4 }, async () => {
    while (!stop.signal.aborted)
      await write().then(
        () => answered++,
        (error: unknown) => failures.push(error),
      )
  })
  /** Waits until both replicas serve, so that a call does not fail when one of them stops. */
  const waitForBothReplicas = async () => {
    const [first = 0, second = 0] = served
    await waitFor(() => failures.length > 0 || ((served[0] ?? 0) > first + 20 && (served[1] ?? 0) > second + 20))
  }
  for (let round = 0; round < 5; round++) {
    for (const nth of [0, 1]) {
      await waitForBothReplicas()
      await replicas[nth]?.server.drain(10_000)
      replicas[nth] = await start(nth)
    }
  }
  await waitForBothReplicas()
  stop.abort()
  await Promise.all(callers)
  recordFigure('C23', `${answered} calls during ten replacements, ${failures.length} failed`)
  expect(failures).toEqual([])
  expect((served[0] ?? 0) + (served[1] ?? 0)).toBe(answered)
}, 60_000)
