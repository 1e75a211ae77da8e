// Faults: K10
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { certificateFolder, createTestAuthority, type TestAuthority } from '@vitascope/testing/certificates'
import { Upload } from 'tus-js-client'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, waitUntilSettled } from './support/video-steps.ts'

const SERVICES = ['auth', 'catalogue', 'encoding', 'worker', 'collaboration', 'analytics', 'delivery', 'gateway']

let authority: TestAuthority
let certificates: Awaited<ReturnType<typeof certificateFolder>>
let platform: TestPlatform
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-tls-'))
  // The authority expires after its certificates, because the metric has the earlier of both times.
  authority = await createTestAuthority('test authority', { toSeconds: 7_200 })
  // One certificate with every name, because the processes share a folder here.
  certificates = await certificateFolder(await authority.issue(SERVICES))
  platform = await startTestPlatform({
    VITASCOPE_TLS_DIR: certificates.folder,
    VITASCOPE_TLS_CALLERS: SERVICES.join(','),
    VITASCOPE_GRPC_CONNECTION_SECONDS: '2',
  })
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  if (certificates) await rm(certificates.folder, { recursive: true, force: true })
  await rm(folder, { recursive: true, force: true })
})

test('with mutual TLS a video is uploaded, encoded and played while certificates change', async () => {
  const tenant = await createTenant(platform.system)
  const api = platform.withKey(tenant.key)
  await makeSource(folder, 'small.mp4')
  const file = await readFile(join(folder, 'small.mp4'))
  let videoId = ''
  await new Promise<void>((resolve, reject) => {
    const upload = new Upload(file, {
      endpoint: `${platform.url}/v2/upload/tus`,
      headers: { Authorization: `Bearer ${tenant.key}` },
      metadata: { filename: 'small.mp4' },
      onAfterResponse(_request, response) {
        videoId = response.getHeader('X-Video-Id') ?? videoId
      },
      onError: reject,
      onSuccess: () => resolve(),
    })
    upload.start()
  })
  const before = await readExpiryTimes()
  // The new certificate expires earlier, which shows that a process uses it.
  await certificates.replace(await authority.issue(SERVICES, { toSeconds: 1_800 }))
  const countReloads = () => platform.log().split('certificates reloaded').length - 1
  const failures: number[] = []
  await waitFor(
    async () => {
      const { status } = await api.get(`/video/${videoId}`)
      if (status !== 200) failures.push(status)
      return countReloads() === SERVICES.length
    },
    { timeout: 30_000, describe: () => `all processes to load the new certificates; ${countReloads()} have` },
  )
  const after = await readExpiryTimes()
  expect(after.length).toBeGreaterThan(4)
  expect(after.map((time, index) => time < (before[index] ?? time))).toEqual(after.map(() => true))
  const video = await waitUntilSettled(api, videoId, 120_000)
  expect([video.status.status, failures]).toEqual(['ok', []])
  const master = await fetch(video.uri.hls)
  expect([master.status, (await master.text()).startsWith('#EXTM3U')]).toEqual([200, true])
}, 240_000)

/** Returns the expiry time of the certificate of each process, in seconds of Unix time. */
async function readExpiryTimes(): Promise<number[]> {
  const page = await (await fetch(platform.metricsUrl)).text()
  return [...page.matchAll(/^vitascope_tls_not_after_timestamp_seconds\S* (\S+)$/gm)].map(([, time]) => Number(time))
}
