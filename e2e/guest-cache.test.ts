// Faults: A7
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { extendTimeout, recordFigure, seededRandom, waitFor } from '@vitascope/testing'
import { type Api, createApi } from './support/api.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTwoGateways, type TwoGateways } from './support/two-gateways.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

/** Maximum age of a response to a guest. */
const MAX_STALE_MS = 1_000

let folder: string
let sources: SourceServer
let platform: TwoGateways
let tenant: Tenant
let videoIds: string[]
/** Clients of both gateways: of the tenant, and without a key. */
let owners: Api[]
let guests: Api[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'other.mp4')
  platform = await startTwoGateways({})
  tenant = await createTenant(platform.system)
  owners = platform.gateways.map((url) => createApi(`${url}/v2`, tenant.key))
  guests = platform.gateways.map((url) => createApi(`${url}/v2`))
  const uploads = [1, 2].map(() => upload(platform.system, tenant.organisationId, `${sources.url}/other.mp4`))
  videoIds = (await Promise.all(uploads)).map(({ id }) => id)
  for (const videoId of videoIds) expect((await waitUntilSettled(platform.system, videoId)).status.status).toBe('ok')
}, 180_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const pick = <Item>(items: readonly Item[], random: number): Item => {
  const item = items[Math.floor(random * items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

/** Number of responses that the first gateway has sent from its cache. */
async function countCached(): Promise<number> {
  const text = await (await fetch(platform.metricsUrl)).text()
  return Number(/^vitascope_gateway_guest_responses_total\{[^}]*source="cache"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0)
}

test('a change is visible at once through its own gateway, and within a second through the other one', async () => {
  const random = seededRandom(Number(process.env['VITASCOPE_TEST_SEED'] ?? 11))
  const cachedBefore = await countCached()
  let longestStaleMs = 0
  for (let step = 0; step < 60; step++) {
    const videoId = pick(videoIds, random())
    const query = random() < 0.3 ? '?player_settings=true' : ''
    const path = `/video/${videoId}${query}`
    // Both gateways have the response in their cache now.
    for (const guest of guests) await guest.get(path)
    const nth = random() < 0.5 ? 0 : 1
    const [own, other] = [nth, 1 - nth]
    const title = `title ${step}`
    expect((await owners[own]?.patch(`/video/${videoId}`, { video_title: title, description_private: `secret ${step}` }))?.status).toBe(200)
    const changedMs = performance.now()
    const read = async (guest: Api | undefined) => (await guest?.get<VideoRecord>(path))?.body
    expect((await read(guests[own]))?.video_title).toBe(title)
    await waitFor(async () => (await read(guests[other]))?.video_title === title, { timeout: 5_000, interval: 5 })
    const staleMs = performance.now() - changedMs
    longestStaleMs = Math.max(longestStaleMs, staleMs)
    expect(staleMs).toBeLessThan(extendTimeout(MAX_STALE_MS))
    for (const guest of guests) expect(JSON.stringify(await read(guest))).not.toContain('secret')
    expect(JSON.stringify(await read(owners[other]))).toContain(`secret ${step}`)
  }
  recordFigure('A7', `60 changes, visible through another gateway after at most ${Math.round(longestStaleMs)} ms`)
  expect(await countCached()).toBeGreaterThan(cachedBefore)
}, 120_000)

test('a disabled or expired video is not found within a second through both gateways', async () => {
  const [videoId = ''] = videoIds
  const path = `/video/${videoId}`
  const change = async (fields: Record<string, unknown>) => expect((await platform.system.patch(path, fields)).status).toBe(200)
  const expectStatus = async (status: number, withinMs: number) => {
    const startedMs = performance.now()
    for (const guest of guests) {
      await waitFor(async () => (await guest.get(path)).status === status, { timeout: 10_000, interval: 10, describe: `status ${status}` })
    }
    expect(performance.now() - startedMs).toBeLessThan(extendTimeout(withinMs))
  }
  await expectStatus(200, MAX_STALE_MS)
  await change({ enabled: 0 })
  await expectStatus(404, MAX_STALE_MS)
  await change({ enabled: 1 })
  await expectStatus(200, MAX_STALE_MS)
  const expiry = new Date(Date.now() + 2_000).toISOString().slice(0, 19).replace('T', ' ')
  await change({ content_expiry: { time: expiry } })
  await expectStatus(404, 2_000 + MAX_STALE_MS)
  await change({ content_expiry: { time: null } })
  await expectStatus(200, MAX_STALE_MS)
}, 60_000)

test('while catalogue is stopped, no response is older than a second, and after its restart all are current', async () => {
  const [videoId = ''] = videoIds
  const path = `/video/${videoId}`
  for (const guest of guests) expect((await guest.get(path)).status).toBe(200)
  const pid = platform.pid('catalogue') ?? 0
  process.kill(pid, 'SIGSTOP')
  try {
    const areRejected = async () => (await Promise.all(guests.map((guest) => guest.get(path)))).every(({ status }) => status >= 500)
    await waitFor(areRejected, { timeout: MAX_STALE_MS, describe: 'old responses to be rejected' })
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  const isReadable = async () => (await Promise.all(guests.map((guest) => guest.get(path)))).every(({ status }) => status === 200)
  await waitFor(isReadable, { timeout: 30_000, describe: 'catalogue to respond again' })
  process.kill(pid, 'SIGKILL')
  await waitFor(() => platform.pid('catalogue') !== pid && isReadable(), { timeout: 30_000, describe: 'catalogue to be restarted' })
  for (const [nth, owner] of owners.entries()) {
    const title = `after the restart ${nth}`
    await waitFor(async () => (await owner.patch(path, { video_title: title })).status === 200, { timeout: 10_000 })
    const changedMs = performance.now()
    for (const guest of guests) {
      await waitFor(async () => (await guest.get<VideoRecord>(path)).body.video_title === title, { timeout: 5_000, interval: 5 })
    }
    expect(performance.now() - changedMs).toBeLessThan(extendTimeout(MAX_STALE_MS))
  }
}, 90_000)
