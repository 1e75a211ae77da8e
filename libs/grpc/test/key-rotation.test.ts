import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { GetVideoResponse, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { createMetrics, type Metrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { testSigningKey, toPublicKey } from '@vitascope/testing/principal-keys'
import { createGrpcServer, openChannel, openPrincipalKeys, serviceCall } from '../src/index.ts'

const folder = await mkdtemp(join(tmpdir(), 'vitascope-rotation-'))
afterAll(() => rm(folder, { recursive: true }))

/** Replaces a file atomically, as an editor or the kubelet does. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(join(folder, 'next'), text)
  await rename(join(folder, 'next'), join(folder, path))
}

/** Returns the number of changes of key files that a service has loaded. */
async function readChangeCount(metrics: Metrics): Promise<number> {
  const [, value] = /^vitascope_principal_key_changes_total(?:\{[^}]*\})? (\d+)/m.exec(await metrics.text()) ?? []
  return Number(value)
}

const [first, second] = [testSigningKey('first'), testSigningKey('second')]

/** Starts a catalogue and a gateway that reload their key files. The gateway signs with the first key. */
async function startServices() {
  await mkdir(join(folder, 'public'), { recursive: true })
  await replace('gateway.key', first)
  await replace('catalogue.key', testSigningKey('catalogue'))
  await replace('public/gateway.pub', toPublicKey(first))
  const [gatewayMetrics, catalogueMetrics] = [createMetrics('gateway'), createMetrics('catalogue')]
  const open = (service: string, metrics: Metrics, publicKeysDir?: string) =>
    openPrincipalKeys(service, { signingKeyFile: join(folder, `${service}.key`), publicKeysDir }, { log: testLog, metrics, pollMs: 20 })
  const gateway = open('gateway', gatewayMetrics)
  const catalogue = open('catalogue', catalogueMetrics, join(folder, 'public'))
  const server = createGrpcServer({ principals: catalogue, log: testLog, metrics: catalogueMetrics })
  server.implement({ getVideo: VideoServiceService.getVideo }, { getVideo: async () => GetVideoResponse.create() })
  const address = await server.listen('127.0.0.1:0')
  const channel = openChannel(address, { service: 'catalogue', principals: gateway })
  const videos = channel.client(VideoServiceService)
  return {
    gatewayMetrics,
    catalogueMetrics,
    call: () => videos.getVideo({ videoId: '1' }, serviceCall('gateway', '')),
    async stop() {
      channel.close()
      await server.drain()
      gateway.close()
      catalogue.close()
    },
  }
}
type Services = Awaited<ReturnType<typeof startServices>>

/** Calls the catalogue. Returns the reason of the rejection, or `succeeded`. */
function callForOutcome({ call }: Services): Promise<string | undefined> {
  return call().then(
    () => 'succeeded',
    ({ reason }: { reason?: string }) => reason,
  )
}

test('no call is rejected while a signing key is replaced by the documented steps', async () => {
  const services = await startServices()
  let [successes, stopped] = [0, false]
  const rejections: unknown[] = []
  const callers = Array.from({ length: 4 }, async () => {
    while (!stopped) {
      await services.call().then(
        () => successes++,
        (error: unknown) => rejections.push(error),
      )
    }
  })
  const step = async (path: string, text: string, metrics: Metrics) => {
    const before = await readChangeCount(metrics)
    await replace(path, text)
    await waitFor(async () => (await readChangeCount(metrics)) > before, { describe: `${path} to be loaded` })
    const successesBefore = successes
    await waitFor(() => successes > successesBefore + 50 || rejections.length > 0, { describe: 'calls after the step' })
  }
  try {
    await step('public/gateway.pub', toPublicKey(first) + toPublicKey(second), services.catalogueMetrics)
    await step('gateway.key', second, services.gatewayMetrics)
    await step('public/gateway.pub', toPublicKey(second), services.catalogueMetrics)
    expect(rejections).toEqual([])
  } finally {
    stopped = true
    await Promise.all(callers)
    await services.stop()
  }
}, 60_000)

test('calls that are signed with a removed key are rejected', async () => {
  const services = await startServices()
  try {
    expect(await callForOutcome(services)).toBe('succeeded')
    await replace('public/gateway.pub', toPublicKey(second))
    await waitFor(async () => (await callForOutcome(services)) === 'PRINCIPAL_INVALID', { describe: 'the first key to be rejected' })
    await replace('gateway.key', second)
    await waitFor(async () => (await callForOutcome(services)) === 'succeeded', { describe: 'the second key to be used' })
  } finally {
    await services.stop()
  }
}, 60_000)

test('a file without a key is not loaded, and the previous keys stay valid', async () => {
  const services = await startServices()
  try {
    await replace('public/gateway.pub', 'half a ')
    const rejected = /^vitascope_principal_key_rejected_changes_total(\{[^}]*\})? [1-9]/m
    await waitFor(async () => rejected.test(await services.catalogueMetrics.text()), { describe: 'the change to be rejected' })
    expect(await callForOutcome(services)).toBe('succeeded')
  } finally {
    await services.stop()
  }
}, 60_000)
