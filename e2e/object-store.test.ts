// Faults: C19
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ObjectStorage, openS3Storage } from '@vitascope/storage'
import { recordFigure, s3Path, startS3, type TestS3, waitFor } from '@vitascope/testing'
import { runCommand } from './support/command.ts'
import { asSuperuser } from './support/database.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

const withS3 = s3Path() === undefined ? describe.skip : describe

withS3('with a bucket of an S3 store', () => {
  let folder: string
  let store: TestS3
  let storage: ObjectStorage
  let platform: TestPlatform
  let sources: SourceServer
  let tenant: Tenant
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    await makeSource(folder, 'small.mp4')
    sources = await startSourceServer(folder)
    store = await startS3()
    storage = openS3Storage(store)
    await writeFile(secretFile(), store.secretAccessKey, { mode: 0o600 })
    platform = await startTestPlatform({ ...buildBucketSettings(store), VITASCOPE_RETRY_MS: '1000', VITASCOPE_RECONCILE_MS: '500' })
    tenant = await createTenant(platform.system)
  }, 120_000)
  afterAll(async () => {
    await platform?.remove()
    await store?.stop()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const secretFile = () => join(folder, 'secret-key')
  const buildBucketSettings = (of: TestS3) => ({
    VITASCOPE_S3_ENDPOINT: of.endpoint,
    VITASCOPE_S3_BUCKET: of.bucket,
    VITASCOPE_S3_ACCESS_KEY_ID: of.accessKeyId,
    VITASCOPE_S3_SECRET_KEY_FILE: secretFile(),
  })
  const fetchBytes = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
  const objects = async () => {
    const names: string[] = []
    for await (const { name } of storage.list('')) names.push(name)
    return names
  }
  const start = () => upload(platform.withKey(tenant.key), tenant.organisationId, `${sources.url}/small.mp4`)

  test('a video is encoded, delivered with ranges, and leaves no objects after its deletion', async () => {
    const video = await waitUntilSettled(platform.system, (await start()).id)
    expect(video.status.status).toBe('ok')
    const mp4 = video.uri.http['h264_1200'] ?? ''
    const whole = Buffer.from(await (await fetch(mp4)).arrayBuffer())
    expect(whole.toString('latin1', 4, 8)).toBe('ftyp')
    const part = await fetch(mp4, { headers: { range: 'bytes=100-199' } })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-199/${whole.length}`])
    expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(100, 200))).toBe(true)
    for (const url of [video.uri.hls, video.uri.poster_frame, video.uri.thumbnail]) expect((await fetch(url)).status).toBe(200)
    const isRetained = (name: string) => name.startsWith(`media/${video.media_id}/`) || name.startsWith('source/')
    await waitFor(async () => (await objects()).every(isRetained), { timeout: 60_000 })
    const response = await platform.system.delete(`/media?media_id=${video.media_id}&user_id=${tenant.userId}`)
    expect(response.status).toBe(200)
    await waitFor(async () => (await objects()).length === 0, { timeout: 60_000, describe: 'the bucket to be empty' })
  }, 150_000)

  test('a backup of a bucket is restored into another bucket and plays', async () => {
    const video = await waitUntilSettled(platform.system, (await start()).id)
    expect(video.status.status).toBe('ok')
    const to = join(folder, 'backup')
    const backup = await runCommand('backup', ['--to', to], { VITASCOPE_DATA_DIR: platform.dataDir, ...buildBucketSettings(store) })
    expect([backup.code, backup.stderr]).toEqual([0, ''])
    const second = await startS3()
    const dataDir = await mkdtemp(join(tmpdir(), 'vitascope-test-'))
    let otherPlatform: TestPlatform | undefined
    try {
      const restored = await runCommand('restore', ['--from', to, '--verify'], {
        VITASCOPE_DATA_DIR: dataDir,
        ...buildBucketSettings(second),
      })
      expect([restored.code, restored.stdout]).toEqual([0, expect.stringMatching(/is restored and verified/)])
      otherPlatform = await startTestPlatform(buildBucketSettings(second), dataDir)
      const repeated = await waitUntilSettled(otherPlatform.withKey(tenant.key), video.video_id)
      const [firstBytes, secondBytes] = await Promise.all(
        [video, repeated].map(async ({ uri }) => await fetchBytes(uri.http['h264_1200'] ?? '')),
      )
      expect(secondBytes?.length).toBeGreaterThan(10_000)
      expect(secondBytes).toEqual(firstBytes)
      expect((await fetch(repeated.uri.hls)).status).toBe(200)
    } finally {
      await otherPlatform?.remove()
      await second.stop()
    }
  }, 240_000)

  test('an outage of the object store delays videos and loses none', async () => {
    const { id, job_id } = await start()
    await store.kill()
    await waitFor(() => /STORAGE_UNAVAILABLE|object store is unreachable|could not be stored|storage failed/.test(platform.log()), {
      timeout: 60_000,
    })
    expect((await platform.system.get<{ status: { status: string } }>(`/video/${id}`)).body.status.status).toBe('encoding')
    await store.start()
    const startedMs = performance.now()
    expect((await waitUntilSettled(platform.system, id, 120_000)).status.status).toBe('ok')
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    const [job] = await asSuperuser(platform, async (client) => {
      const { rows } = await client.query<{ attempt: number }>('select attempt from encoding.job where job_id = $1', [job_id])
      return rows
    })
    recordFigure('C19', `the video plays ${seconds} s after the outage, which cost ${(job?.attempt ?? 0) - 1} attempts`)
    expect(job?.attempt).toBe(1)
  }, 240_000)
})
