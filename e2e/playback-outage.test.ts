// Faults: C33
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { extendTimeout, type FaultProxy, freePort, isLongRun, recordFigure, startFaultProxy, waitFor } from '@vitascope/testing'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const OUTAGE_MS = isLongRun ? 590_000 : 12_000
/** Maximum time until a change of the rules applies. */
const CHANGE_MS = 5_000

let folder: string
let platform: TestPlatform
let sources: SourceServer
let catalogueAddress: string
let proxy: FaultProxy
/** Addresses of files of a public video, and of a protected one with a token. */
let open: string
let tokened: string
let openId: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'other.mp4')
  catalogueAddress = `127.0.0.1:${await freePort()}`
  proxy = await startFaultProxy(catalogueAddress)
  platform = await startTestPlatform({ VITASCOPE_CATALOGUE_LISTEN: catalogueAddress, VITASCOPE_CATALOGUE_ADDRESS: proxy.address })
  const tenant = await createTenant(platform.system)
  const api = platform.withKey(tenant.key)
  const ids = await Promise.all([1, 2].map(async () => (await upload(api, tenant.organisationId, `${sources.url}/other.mp4`)).id))
  for (const id of ids) expect((await waitUntilSettled(api, id)).status.status).toBe('ok')
  const [publicId = '', protectedId = ''] = ids
  openId = publicId
  open = (await api.get<VideoRecord>(`/video/${publicId}`)).body.uri.hls
  expect((await api.patch(`/video/${protectedId}`, { security: { token_required_platform: true } })).status).toBe(200)
  const { status, body } = await api.get<VideoRecord>(`/video/${protectedId}`)
  const token = await api.post<{ token: string }>(`/video/${protectedId}/token`, { expires_in: 3_600 })
  expect([status, token.status]).toEqual([200, 201])
  tokened = body.uri.hls.replace(/(\/delivery\/\d+\/[^/~]+)(~[^/]+)?\//, `$1~${token.body.token}/`)
}, 180_000)
afterAll(async () => {
  await platform?.remove()
  await proxy?.close()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Requests both videos repeatedly for a time. Returns the statuses that differ from 200, and the slowest response in ms. */
async function play(ms: number) {
  const failures: string[] = []
  let [requests, slowestMs] = [0, 0]
  for (const until = Date.now() + ms; Date.now() < until; await delay(50))
    for (const [name, url] of Object.entries({ open, tokened })) {
      const began = performance.now()
      const response = await fetch(url)
      await response.arrayBuffer()
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - began))
      requests++
      if (response.status !== 200) failures.push(`${name} ${response.status}`)
    }
  return { failures, requests, slowestMs }
}

/** Returns the ids of a process and of all its descendants. */
function processTree(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, parent = ''] = /\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? []
        return [{ pid: Number(name), parent: Number(parent) }]
      } catch {
        // The process has ended.
        return []
      }
    })
  const below = (id: number): number[] => [id, ...parents.filter(({ parent }) => parent === id).flatMap((child) => below(child.pid))]
  return below(pid)
}

/** Protects the public video. Returns after how many ms its files are rejected, and makes it public again. */
async function measureChange(): Promise<number> {
  expect((await platform.system.patch(`/video/${openId}`, { security: { token_required_platform: true } })).status).toBe(200)
  const changedAt = Date.now()
  await waitFor(async () => (await fetch(open)).status !== 200, { timeout: CHANGE_MS, describe: 'the file to be rejected' })
  const ms = Date.now() - changedAt
  expect(ms).toBeLessThan(extendTimeout(CHANGE_MS))
  expect((await platform.system.patch(`/video/${openId}`, { security: { token_required_platform: false } })).status).toBe(200)
  open = (await platform.system.get<VideoRecord>(`/video/${openId}`)).body.uri.hls
  await waitFor(async () => (await fetch(open)).status === 200, { timeout: CHANGE_MS, describe: 'the file to be served again' })
  return ms
}

const signalPostgres = (signal: NodeJS.Signals) => {
  for (const pid of processTree(platform.pid('postgres') ?? Number.NaN)) process.kill(pid, signal)
}
const signalCatalogue = (signal: NodeJS.Signals) => process.kill(platform.pid('catalogue') ?? Number.NaN, signal)
const refuseConnections = () => {
  proxy.target = '127.0.0.1:9'
  proxy.drop()
}
const acceptConnections = () => {
  proxy.target = catalogueAddress
}

const outages: [name: string, begin: () => void, end: () => void][] = [
  ['the catalogue refuses connections', refuseConnections, acceptConnections],
  ['the catalogue does not respond', () => signalCatalogue('SIGSTOP'), () => signalCatalogue('SIGCONT')],
  ['PostgreSQL does not respond', () => signalPostgres('SIGSTOP'), () => signalPostgres('SIGCONT')],
]

test.each(outages)(
  'public and protected videos play while %s, and changes apply soon afterwards',
  async (name, begin, end) => {
    expect((await play(500)).failures).toEqual([])
    begin()
    try {
      const { failures, requests, slowestMs } = await play(OUTAGE_MS)
      expect(failures).toEqual([])
      expect(requests).toBeGreaterThan(OUTAGE_MS / 1_000)
      expect(slowestMs).toBeLessThan(extendTimeout(2_000))
      recordFigure('C33', `${name} for ${OUTAGE_MS / 1_000} s: ${requests} requests, the slowest ${slowestMs} ms`)
      expect((await fetch(`${platform.url}/readyz`)).status).toBe(503)
    } finally {
      end()
    }
    await waitFor(async () => (await fetch(`${platform.url}/readyz`)).ok, { timeout: 30_000, describe: 'the platform to be ready' })
    recordFigure('C33', `${name}: a change applied ${await measureChange()} ms later`)
  },
  OUTAGE_MS + 120_000,
)
