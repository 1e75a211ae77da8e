// Faults: C20
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, open, rename, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { recordFigure, waitFor } from '@vitascope/testing'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { ffmpeg, makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, type UploadResponse, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const run = promisify(execFile)
const SERVICES = ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics', 'worker', 'delivery', 'gateway']
/** Maximum time from freeing space until playback or writes succeed. */
const MAX_RECOVERY_MS = 30_000
const FULL_DISK_MS = 8_000

let folder: string
let sources: SourceServer
beforeAll(async () => {
  if (process.getuid?.() !== 0) throw new Error('run as root: small file systems are mounted')
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'small.mp4')
}, 60_000)
afterAll(async () => {
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

interface SmallDisk {
  platform: TestPlatform
  tenant: Tenant
  fill(): Promise<void>
  empty(): Promise<void>
  close(): Promise<void>
}

/** Starts a platform with a separate file system for one of its subfolders. */
async function startOnSmallDisk(subfolder: string, megabytes: number): Promise<SmallDisk> {
  const data = await mkdtemp(join(tmpdir(), 'vitascope-test-'))
  const [disk, before] = [join(data, subfolder), join(data, `${subfolder}-before`)]
  // The first start uses the normal file system, because PostgreSQL creates a database in a
  // temporary folder and renames it, which fails across file systems.
  await (await startTestPlatform({}, data)).stop()
  await rename(disk, before)
  await mkdir(disk)
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'vitascope', disk])
  await run('cp', ['-a', `${before}/.`, disk])
  const filler = join(disk, 'filler')
  const platform = await startTestPlatform({}, data)
  return {
    platform,
    tenant: await createTenant(platform.system),
    async fill() {
      const file = await open(filler, 'w')
      const { bavail, bsize } = await statfs(disk)
      // Other processes may take space at the same time. Then the write fails, but the disk is full.
      await file.writeFile(Buffer.alloc(bavail * bsize)).catch((error: NodeJS.ErrnoException) => expect(error.code).toBe('ENOSPC'))
      await file.close()
      expect((await statfs(disk)).bavail).toBe(0)
    },
    empty: () => rm(filler),
    async close() {
      await platform.stop()
      await run('umount', [disk])
      await rm(data, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Checks that each rendition, as MP4 and as HLS, can be decoded completely. */
async function expectDecodable(platform: TestPlatform, video: VideoRecord): Promise<void> {
  for (const url of [...new Set([...Object.values(video.uri.http), video.uri.hls])]) {
    expect(await ffmpeg(['-xerror', '-i', url, '-f', 'null', '-'])).toBe('')
  }
  expect(platform.log()).not.toMatch(/uncaught|unhandled/i)
}

describe.each([
  ['scratch', 64],
  ['storage', 64],
])('when the disk of %s (%d MB) is full', (subfolder, megabytes) => {
  let small: SmallDisk
  beforeAll(async () => {
    small = await startOnSmallDisk(subfolder, megabytes)
  }, 120_000)
  afterAll(() => small?.close(), 60_000)

  test('uploads wait, no process ends, and accepted uploads become playable after space is freed', async () => {
    const { platform, tenant } = small
    const api = platform.withKey(tenant.key)
    const before = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`)
    expect((await waitUntilSettled(api, before.id, 120_000)).status.status).toBe('ok')
    const pids = SERVICES.map((name) => platform.pid(name))
    await small.fill()
    const response = await api.post<UploadResponse>('/video/upload', {
      url: `${sources.url}/small.mp4`,
      organisation_id: tenant.organisationId,
    })
    expect(response.status).toBe(200)
    const filledAt = Date.now()
    await waitFor(
      async () => {
        const { body } = await api.get<VideoRecord>(`/video/${response.body.id}`)
        expect(body.status.status).toBe('encoding')
        return Date.now() - filledAt > FULL_DISK_MS
      },
      { timeout: 4 * FULL_DISK_MS, describe: `the disk to be full for ${FULL_DISK_MS} ms` },
    )
    expect((await api.get(`/video/${before.id}`)).status).toBe(200)
    await small.empty()
    const freedAt = Date.now()
    const video = await waitUntilSettled(api, response.body.id, 120_000)
    expect(video.status.status).toBe('ok')
    recordFigure('C20', `full disk of ${subfolder}: video plays ${((Date.now() - freedAt) / 1000).toFixed(1)} s after space is freed`)
    expect(Date.now() - freedAt).toBeLessThan(MAX_RECOVERY_MS)
    await expectDecodable(platform, video)
    expect(SERVICES.map((name) => platform.pid(name))).toEqual(pids)
  }, 300_000)
})

describe('when the disk of PostgreSQL is full', () => {
  let small: SmallDisk
  beforeAll(async () => {
    small = await startOnSmallDisk('postgres', 320)
  }, 120_000)
  afterAll(() => small?.close(), 60_000)

  test('writes are rejected with 503, acknowledged writes are kept, and writes succeed again after space is freed', async () => {
    const { platform } = small
    const pids = SERVICES.map((name) => platform.pid(name))
    const organisationIds: string[] = []
    const write = async () => {
      const name = `Full ${organisationIds.length} ${'x'.repeat(200)}`
      const response = await platform.system.post<{ organisation_id: string }>('/organisation', { name })
      if (response.status === 200 || response.status === 201) organisationIds.push(response.body.organisation_id)
      return response
    }
    for (let n = 0; n < 20; n++) expect((await write()).status).toBeLessThan(300)
    await small.fill()
    const rejected: number[] = []
    const filledAt = Date.now()
    await waitFor(
      async () => {
        const { status, headers } = await write()
        if (status >= 300) {
          rejected.push(status)
          expect(headers.get('retry-after')).toMatch(/^\d+$/)
        }
        return rejected.length > 50 || (rejected.length > 0 && Date.now() - filledAt > FULL_DISK_MS)
      },
      { timeout: 120_000, describe: 'writes to be rejected on the full disk' },
    )
    expect(new Set(rejected)).toEqual(new Set([503]))
    await small.empty()
    const freedAt = Date.now()
    await waitFor(async () => (await write()).status < 300, { timeout: 4 * MAX_RECOVERY_MS, describe: 'a write to succeed' })
    const writesAfter = ((Date.now() - freedAt) / 1000).toFixed(1)
    recordFigure('C20', `full disk of postgres: ${rejected.length} writes rejected, writes succeed ${writesAfter} s after space is freed`)
    expect(Date.now() - freedAt).toBeLessThan(MAX_RECOVERY_MS)
    for (const id of organisationIds) expect((await platform.system.get(`/organisation/${id}`)).status).toBe(200)
    expect(SERVICES.map((name) => platform.pid(name))).toEqual(pids)
  }, 300_000)
})
