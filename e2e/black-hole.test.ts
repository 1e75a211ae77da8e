// Faults: C29
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { extendTimeout, type FaultProxy, freePort, isLongRun, recordFigure, startFaultProxy, waitFor } from '@vitascope/testing'
import { objectProblems } from './support/object-problems.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, type UploadResponse, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

// The test delays all bytes between services, without closing or refusing connections, so that
// callers see the same as with a dead switch.

const HOLE_MS = isLongRun ? 30_000 : 12_000
/** Deadlines of the internal calls of a read and of a write. `SLACK_MS` is for a busy machine. */
const READ_MS = 2_000
const WRITE_MS = 10_000
const SLACK_MS = extendTimeout(3_000)

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
const proxies: FaultProxy[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'minute.mp4')
  await makeSource(folder, 'other.mp4')
  const env: Record<string, string> = {}
  for (const name of ['CATALOGUE', 'ENCODING']) {
    env[`VITASCOPE_${name}_LISTEN`] = `127.0.0.1:${await freePort()}`
    const proxy = await startFaultProxy(`${env[`VITASCOPE_${name}_LISTEN`]}`)
    env[`VITASCOPE_${name}_ADDRESS`] = proxy.address
    proxies.push(proxy)
  }
  platform = await startTestPlatform({ ...env, VITASCOPE_RECONCILE_MS: '500' })
  tenant = await createTenant(platform.system)
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  for (const proxy of proxies) await proxy.close()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Sends requests without a pause until stopped. Records the responses and their durations. */
function repeatCall(call: (nth: number) => Promise<{ status: number }>) {
  let stopped = false
  const responses: { status: number; ms: number }[] = []
  const loop = async () => {
    for (let nth = 0; !stopped; nth++) {
      const began = performance.now()
      const { status } = await call(nth)
      responses.push({ status, ms: performance.now() - began })
      await delay(50)
    }
  }
  const done = loop()
  return {
    responses,
    async stop() {
      stopped = true
      await done
    },
  }
}

test('deadlines hold during network partitions between services, and nothing is lost or duplicated', async () => {
  const api = platform.withKey(tenant.key)
  const { id } = await upload(platform.system, tenant.organisationId, `${sources.url}/minute.mp4`)
  await waitFor(async () => (await api.get<VideoRecord>(`/video/${id}`)).body.status.progress > 5, {
    timeout: 60_000,
    describe: 'the encode to run',
  })
  for (const proxy of proxies) proxy.delayMs = HOLE_MS
  const began = performance.now()
  const reads = repeatCall(() => api.get(`/video?organisation_id=${tenant.organisationId}`))
  // All attempts share one idempotency key: a client without a response repeats its request.
  const body = { url: `${sources.url}/other.mp4`, organisation_id: tenant.organisationId, name: 'once only' }
  const writes = repeatCall(() => api.post<UploadResponse>('/video/upload', body, { 'idempotency-key': 'once only' }))
  await delay(HOLE_MS)
  for (const proxy of proxies) proxy.delayMs = 0
  await waitFor(() => [reads, writes].every(({ responses }) => responses.at(-1)?.status === 200 && performance.now() - began > HOLE_MS), {
    timeout: 60_000,
    describe: () => `successful responses again, after ${JSON.stringify([reads.responses.at(-1), writes.responses.at(-1)])}`,
  })
  await reads.stop()
  await writes.stop()

  const slowest = (responses: typeof reads.responses) => Math.max(...responses.map(({ ms }) => ms))
  const [read, write] = [reads, writes].map(({ responses }) => Math.round(slowest(responses)))
  recordFigure('C29', `partition of ${HOLE_MS / 1_000} s, slowest read ${read} ms, slowest write ${write} ms`)
  expect(reads.responses.filter(({ status, ms }) => ![200, 503].includes(status) || ms > READ_MS + SLACK_MS)).toEqual([])
  // 409 means that the first write with this key is still running.
  expect(writes.responses.filter(({ status, ms }) => ![200, 409, 503].includes(status) || ms > WRITE_MS + SLACK_MS)).toEqual([])
  expect(reads.responses.some(({ status }) => status === 503)).toBe(true)

  expect((await waitUntilSettled(api, id, 180_000)).status).toMatchObject({ status: 'ok', code: 2000 })
  const { body: list } = await api.get<{ videos: VideoRecord[] }>('/video?q=once%20only')
  expect(list.videos).toHaveLength(1)
  expect((await waitUntilSettled(api, `${list.videos[0]?.video_id}`, 120_000)).status.status).toBe('ok')
  await waitFor(async () => (await objectProblems(platform)).length === 0, {
    timeout: 60_000,
    interval: 1_000,
    describe: 'no object to be left over',
  })
}, 600_000)
