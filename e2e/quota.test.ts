// Faults: R4, R12
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

let folder: string
let platform: TestPlatform
let sources: SourceServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  platform = await startTestPlatform()
  await makeSource(folder, 'small.mp4')
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

interface Organisation extends Record<string, unknown> {
  quota: Record<string, string | null>
  usage: Record<'bytes' | 'bytes_reserved' | 'minutes_this_month' | 'minutes_reserved' | 'jobs', string>
}
interface Problem extends Record<string, unknown> {
  code: string
  detail: string
}
const readOrganisation = async ({ organisationId }: Tenant) =>
  (await platform.system.get<Organisation>(`/organisation/${organisationId}`)).body
const readUsage = async (tenant: Tenant) => (await readOrganisation(tenant)).usage
const createTenantApi = ({ key }: Tenant) => platform.withKey(key)
const smallUrl = () => `${sources.url}/small.mp4`
/** Returns the response to an upload request with any status. */
const requestUpload = (tenant: Tenant, url = smallUrl()) =>
  createTenantApi(tenant).post<Problem>('/video/upload', { url, organisation_id: tenant.organisationId })

/** Requests an upload of a source that does not exist, so it uses no quota in the end. */
const requestMissingSource = (tenant: Tenant) => requestUpload(tenant, `${sources.url}/none.mp4`)

/**
 * Returns the statuses of the last byte, of HEAD with its offset, of DELETE, and of HEAD
 * afterwards.
 */
async function probeRejectedTusUpload(tenant: Tenant): Promise<(number | string | null)[]> {
  const tus = { 'tus-resumable': '1.0.0' }
  const call = (method: string, path: string, headers: Record<string, string> = {}, body?: Uint8Array<ArrayBuffer>) =>
    createTenantApi(tenant).send(method, path, { headers: { ...tus, ...headers }, ...(body && { body }) })
  const { headers } = await call('POST', '/upload/tus', { 'upload-length': '3' })
  const path = `/upload/tus/${headers.get('location')?.split('/').at(-1)}`
  const parts = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' }
  const last = await call('PATCH', path, parts, new Uint8Array(3))
  const head = await call('HEAD', path)
  const deleted = await call('DELETE', path)
  return [last.status, head.status, head.headers.get('upload-offset'), deleted.status, (await call('HEAD', path)).status]
}

/** Sets a quota, and waits until an upload returns this status or code. */
async function setQuota(tenant: Tenant, quota: Record<string, number>, expected: number | string): Promise<void> {
  const { status } = await platform.system.put(`/organisation/${tenant.organisationId}`, { quota })
  expect(status).toBe(200)
  const isQuotaApplied = async () => {
    const { status: received, body } = await requestMissingSource(tenant)
    return received === expected || body.code === expected
  }
  await waitFor(isQuotaApplied, { describe: 'the quota to be applied' })
  await waitFor(async () => (await readUsage(tenant)).jobs === '0', { timeout: 60_000, describe: 'the jobs of these requests to end' })
}

describe('bytes and minutes', () => {
  test('are counted per upload, enforced by every upload method, and released', async () => {
    const tenant = await createTenant(platform.system)
    expect(await readUsage(tenant)).toEqual({ bytes: '0', bytes_reserved: '0', minutes_this_month: '0', minutes_reserved: '0', jobs: '0' })
    const { id } = await upload(createTenantApi(tenant), tenant.organisationId, smallUrl())
    expect(await readUsage(tenant)).toMatchObject({ bytes_reserved: String(8 * 1024 ** 2), minutes_reserved: '1', jobs: '1' })
    const video = await waitUntilSettled(createTenantApi(tenant), id)
    expect(video.status).toMatchObject({ status: 'ok' })
    const stored = await readUsage(tenant)
    expect(stored).toMatchObject({ bytes_reserved: '0', minutes_reserved: '0', jobs: '0' })
    expect(Number(stored.minutes_this_month)).toBeCloseTo(Number(video.duration) / 60, 1)
    const mp4 = await fetch(video.uri.http['h264_1200'] ?? '', { method: 'HEAD' })
    expect(Number(stored.bytes)).toBeGreaterThan(Number(mp4.headers.get('content-length')))

    await setQuota(tenant, { bytes: Number(stored.bytes) }, 413)
    const replaced = await createTenantApi(tenant).put(`/media/${video.media_id}`, { uri: smallUrl() })
    expect(replaced.status).toBe(200)
    expect((await waitUntilSettled(createTenantApi(tenant), id)).status).toMatchObject({ status: 'ok' })
    await waitFor(async () => (await readUsage(tenant)).jobs === '0')
    expect(await readUsage(tenant)).toMatchObject({ bytes: stored.bytes, bytes_reserved: '0' })

    await setQuota(tenant, { bytes: 0 }, 413)
    const rejected = [
      await requestUpload(tenant),
      await createTenantApi(tenant).post<Problem>('/video/upload', {
        url: smallUrl(),
        organisation_id: tenant.organisationId,
        media_id: video.media_id,
      }),
      await createTenantApi(tenant).put<Problem>(`/media/${video.media_id}`, { uri: smallUrl() }),
      await platform.system.get<Problem>(
        `/video/upload?data=${encodeURIComponent(JSON.stringify({ url: smallUrl(), organisation_id: tenant.organisationId }))}`,
      ),
    ]
    for (const { status, body } of rejected) {
      expect([status, body.code]).toEqual([413, 'quota_bytes'])
      expect(body.detail).toContain(`${stored.bytes} are used`)
    }
    expect((await createTenantApi(tenant).get(`/video/${id}`)).body).toMatchObject({ status: { status: 'ok' } })
    const started = await createTenantApi(tenant).send('POST', '/upload/tus', {
      headers: { 'tus-resumable': '1.0.0', 'upload-length': '3' },
    })
    expect(started.status).toBe(413)

    await setQuota(tenant, { minutes_per_month: 0 }, 'quota_minutes')
    expect(await probeRejectedTusUpload(tenant)).toEqual([413, 413, null, 204, 404])
    expect((await createTenantApi(tenant).put<Problem>(`/media/${video.media_id}`, { uri: smallUrl() })).status).toBe(413)
    const deleted = await platform.system.delete(`/media?media_id=${video.media_id}&user_id=${tenant.userId}`)
    expect(deleted.status).toBe(200)
    expect(Number((await readUsage(tenant)).bytes)).toBe(0)
    expect(Number((await readUsage(tenant)).minutes_this_month)).toBeCloseTo((2 * Number(video.duration)) / 60, 1)
  }, 150_000)

  test('are reserved while an upload is in progress', async () => {
    const tenant = await createTenant(platform.system)
    await setQuota(tenant, { bytes: 0 }, 413)
    await setQuota(tenant, { bytes: 1_000 }, 200)
    const tus = { 'tus-resumable': '1.0.0' }
    const beginTus = (length: number) =>
      createTenantApi(tenant).send('POST', '/upload/tus', { headers: { ...tus, 'upload-length': String(length) } })
    const started = await beginTus(900)
    expect([started.status, (await readUsage(tenant)).bytes_reserved]).toEqual([201, '900'])
    const rejected = await beginTus(101)
    expect([rejected.status, (rejected.body as Problem).code]).toEqual([413, 'quota_bytes'])
    await createTenantApi(tenant).send('DELETE', `/upload/tus/${started.headers.get('location')?.split('/').at(-1)}`, { headers: tus })
    expect((await readUsage(tenant)).bytes_reserved).toBe('0')
  }, 60_000)

  test('limit the encoded files, not the source', async () => {
    const tenant = await createTenant(platform.system)
    const { size } = await stat(join(folder, 'small.mp4'))
    await setQuota(tenant, { bytes: 0 }, 413)
    await setQuota(tenant, { bytes: size - 1 }, 200)
    const { id, job_id } = await upload(createTenantApi(tenant), tenant.organisationId, smallUrl())
    expect((await waitUntilSettled(createTenantApi(tenant), id)).status).toMatchObject({ status: 'failed', code: 4003 })
    const { body } = await createTenantApi(tenant).get(`/job/${job_id}`)
    expect(body).toMatchObject({ error: { code: 4003, message: expect.stringContaining(`exceeds the ${size - 1} bytes`) } })
    expect(await readUsage(tenant)).toMatchObject({ bytes: '0', bytes_reserved: '0', minutes_this_month: '0' })
  }, 90_000)
})

test('concurrent jobs are limited by the quota, independently of other organisations', async () => {
  const [busy, otherTenant] = [await createTenant(platform.system), await createTenant(platform.system)]
  await setQuota(busy, { concurrent_jobs: 0 }, 429)
  await setQuota(busy, { concurrent_jobs: 20 }, 200)
  const results = []
  for (let batch = 0; batch < 5; batch++) results.push(...(await Promise.all(Array.from({ length: 8 }, () => requestUpload(busy)))))
  const rejected = results.filter(({ status }) => status !== 200)
  expect(rejected.length).toBeGreaterThan(0)
  for (const { status, body, headers } of rejected) {
    expect([status, body.code]).toEqual([429, 'too_many_jobs'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  const countJobs = async () => Number((await readUsage(busy)).jobs)
  const before = await countJobs()
  expect(before).toBeGreaterThan(12)
  const { id } = await upload(createTenantApi(otherTenant), otherTenant.organisationId, smallUrl())
  expect((await waitUntilSettled(createTenantApi(otherTenant), id)).status).toMatchObject({ status: 'ok' })
  // Tasks are shared fairly: each of the four tasks of the other tenant waits for at most one
  // task of the busy tenant, and two tasks run at once.
  expect(before - (await countJobs())).toBeLessThanOrEqual(10)
}, 150_000)
