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

async function changes(metrics: Metrics): Promise<number> {
  const [, value] = /^vitascope_principal_key_changes_total(?:\{[^}]*\})? (\d+)/m.exec(await metrics.text()) ?? []
  return Number(value)
}

test('no call is rejected while a signing key is replaced by the documented steps', async () => {
  const [first, second] = [testSigningKey('first'), testSigningKey('second')]
  await mkdir(join(folder, 'public'))
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

  let [successes, stopped] = [0, false]
  const rejections: unknown[] = []
  const callers = Array.from({ length: 4 }, async () => {
    while (!stopped) {
      await videos.getVideo({ videoId: '1' }, serviceCall('gateway', '')).then(
        () => successes++,
        (error: unknown) => rejections.push(error),
      )
    }
  })
  const step = async (path: string, text: string, metrics: Metrics) => {
    const before = await changes(metrics)
    await replace(path, text)
    await waitFor(async () => (await changes(metrics)) > before, { describe: `${path} to be loaded` })
    const successesBefore = successes
    await waitFor(() => successes > successesBefore + 50 || rejections.length > 0, { describe: 'calls after the step' })
  }
  const outcome = () =>
    videos.getVideo({ videoId: '1' }, serviceCall('gateway', '')).then(
      () => 'succeeded',
      ({ reason }: { reason?: string }) => reason,
    )
  try {
    await step('public/gateway.pub', toPublicKey(first) + toPublicKey(second), catalogueMetrics)
    await step('gateway.key', second, gatewayMetrics)
    await step('public/gateway.pub', toPublicKey(second), catalogueMetrics)
    stopped = true
    await Promise.all(callers)
    expect(rejections).toEqual([])

    // From now on calls signed with the old key are rejected.
    await replace('gateway.key', first)
    await waitFor(async () => (await outcome()) === 'PRINCIPAL_INVALID', { describe: 'the old key to be rejected' })
    // A file without a key is not loaded; the service keeps its previous keys.
    await replace('public/gateway.pub', 'half a ')
    const rejected = /^vitascope_principal_key_rejected_changes_total(\{[^}]*\})? [1-9]/m
    await waitFor(async () => rejected.test(await catalogueMetrics.text()), { describe: 'the change to be rejected' })
    await replace('gateway.key', second)
    await waitFor(async () => (await outcome()) === 'succeeded', { describe: 'the new key to be accepted' })
  } finally {
    stopped = true
    await Promise.all(callers)
    channel.close()
    await server.drain()
    gateway.close()
    catalogue.close()
  }
}, 60_000)
