// Faults: C17
import { createReadStream } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { type PostgresPair, startPostgresPair, waitFor } from '@vitascope/testing'
import pg from 'pg'
import { longTest } from './support/long-test.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, type UploadResponse, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const SERVICES = ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics']
/** Short times, so that waiting for one or two leases is fast. */
const TIMES = {
  VITASCOPE_LEASE_MS: '3000',
  VITASCOPE_FETCH_LEASE_MS: '2000',
  VITASCOPE_WORKER_HEARTBEAT_MS: '500',
  VITASCOPE_RECONCILE_MS: '300',
  // A restarted job must not find files to resume from.
  VITASCOPE_KEEP_SOURCES: '0',
}

let folder: string
let sources: SourceServer
let scene: Scene | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'other.mp4')
}, 60_000)
afterEach(async () => {
  await scene?.close()
  scene = undefined
}, 30_000)
afterAll(async () => {
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

interface Event {
  id: string
  type: string
  video: string
}

/**
 * A platform of which some services use a database with a standby. At the cut, the replication to the
 * standby ended, so that it is stale. `early` was playable before the cut. `late` was accepted before
 * the cut and became playable after it. `lost` was accepted after the cut and became playable.
 */
interface Scene {
  platform: TestPlatform
  tenant: Tenant
  events: Event[]
  early: VideoRecord
  late: VideoRecord
  lost: VideoRecord
  lostJob: UploadResponse
  /** Returns the names of all objects. */
  objects(): Promise<string[]>
  /** Queries the database that was failed over. */
  query<Row>(statement: string): Promise<Row[]>
  close(): Promise<void>
}

/**
 * Starts a platform, creates the three videos, and fails over to the standby. `settings` selects the services that use
 * the pair of databases.
 */
async function failOver(settings: (pair: PostgresPair) => Record<string, string>): Promise<Scene> {
  const pair = await startPostgresPair()
  const platform = await startTestPlatform({ ...TIMES, ...settings(pair) }).catch(async (error: unknown) => {
    await pair.stop()
    throw error
  })
  const close = async () => {
    await platform.remove()
    await pair.stop()
  }
  try {
    const tenant = await createTenant(platform.system)
    const api = platform.withKey(tenant.key)
    const events: Event[] = []
    sources.setHandler('/hook', async (request, response) => {
      const { type, data } = JSON.parse(await text(request)) as { type: string; data: { video_id: string } }
      events.push({ id: `${request.headers['webhook-id']}`, type, video: data.video_id })
      response.end()
    })
    const hook = await api.post('/webhook', { url: `${sources.url}/hook`, events: ['video.ready', 'video.failed'] })
    expect(hook.status).toBe(201)
    const open = hold('/held.mp4')

    const add = (name: string, fields: object) => upload(api, tenant.organisationId, `${sources.url}/${name}`, { ...fields })
    const first = await add('other.mp4', { name: 'early' })
    const second = await add('held.mp4', { name: 'late' })
    const early = await waitUntilSettled(api, first.id)
    await waitFor(() => open.isRequested(), { timeout: 20_000, describe: 'the source of the second to be requested' })
    await waitFor(() => events.length === 1, { timeout: 20_000, describe: 'the event of the first' })
    await pair.cut()
    open.now()
    const lostJob = await add('other.mp4', { name: 'lost' })
    const [late, lost] = [await waitUntilSettled(api, second.id), await waitUntilSettled(api, lostJob.id)]
    const areReported = async () => events.length === 3 && (await listMails(platform)).length === 3
    await waitFor(areReported, { timeout: 20_000, describe: 'the events and mails of the others' })
    expect([early, late, lost].map(({ status }) => status.status)).toEqual(['ok', 'ok', 'ok'])
    // The intermediate files of a finished job are removed: a restarted job does not find them.
    await waitFor(async () => !(await listObjects(platform)).some((name) => /^(source|work)\//.test(name)), { timeout: 20_000 })
    await pair.failOver()
    return {
      ...{ platform, tenant, events, early, late, lost, lostJob, close },
      objects: () => listObjects(platform),
      query: <Row>(statement: string) => queryOnce<Row>(pair.url, statement),
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Leaves requests for a file unanswered until released. */
function hold(path: string) {
  const waiting: ServerResponse[] = []
  let isOpen = false
  const send = (response: ServerResponse) => createReadStream(join(folder, 'other.mp4')).pipe(response)
  sources.setHandler(path, (_, response) => {
    if (isOpen) send(response)
    else waiting.push(response)
  })
  return {
    isRequested: () => waiting.length > 0,
    now() {
      isOpen = true
      waiting.splice(0).forEach(send)
    },
  }
}

async function queryOnce<Row>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(statement)).rows as Row[]
  } finally {
    await client.end()
  }
}

async function listObjects({ dataDir }: TestPlatform): Promise<string[]> {
  const root = join(dataDir, 'storage')
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
  return names.filter((name) => !name.startsWith('.')).sort()
}

const listMails = async ({ dataDir }: TestPlatform) =>
  (await readdir(join(dataDir, 'mail')).catch(() => [])).filter((file) => file.endsWith('.eml'))

/** Returns the prefixes of the sets of a media in storage. */
const listSets = (names: readonly string[], { media_id }: VideoRecord) => [
  ...new Set(names.filter((name) => name.startsWith(`media/${media_id}/`)).map((name) => name.split('/').slice(0, 3).join('/'))),
]

async function expectPlays(video: VideoRecord): Promise<void> {
  const { uri } = video
  for (const url of [uri.hls, uri.poster_frame, uri.thumbnail, ...Object.values(uri.http), ...Object.values(uri.all_thumbnails)]) {
    expect([url, (await fetch(url)).status]).toEqual([url, 200])
  }
}

/** Checks that each of these services logs and counts the failover, and the others do not. */
async function expectReported({ platform }: Scene, services: readonly string[]): Promise<void> {
  const readFailovers = (page: string, service: string) =>
    Number(new RegExp(`^vitascope_database_failovers_total\\{.*service="${service}".*\\} (\\d+)$`, 'm').exec(page)?.[1])
  const counts = async () => {
    const page = await (await fetch(platform.metricsUrl)).text()
    return SERVICES.map((service) => readFailovers(page, service))
  }
  const expectedCounts = SERVICES.map((service) => (services.includes(service) ? 1 : 0))
  await waitFor(async () => `${await counts()}` === `${expectedCounts}`, {
    timeout: 30_000,
    describe: 'each service to count its failover',
  })
  const output = platform.log().split('the database lost transactions').length - 1
  expect(output).toBe(services.length)
}

/** Waits until a service has finished its checks after the failover. */
const waitUntilSettledIn = ({ query: call }: Scene, service: string) =>
  waitFor(async () => (await call(`select from ${service}.failover where settle_time is null`)).length === 0, {
    timeout: 30_000,
    describe: `${service} to finish its checks`,
  })

/** Waits until the platform returns the video, and returns its record. */
function waitForRecord({ platform, tenant }: Scene, { video_id }: VideoRecord): Promise<VideoRecord> {
  const api = platform.withKey(tenant.key)
  return waitFor(
    async () => {
      const response = await api.get<VideoRecord>(`/video/${video_id}`).catch(() => undefined)
      return response?.status === 200 ? response.body : undefined
    },
    { timeout: 30_000, describe: `video ${video_id} to be returned` },
  )
}

const countEvents = ({ events }: Scene, type: string, { video_id }: VideoRecord) =>
  new Set(events.filter((event) => event.type === type && event.video === video_id).map(({ id }) => id)).size

interface FailoverList extends Record<string, unknown> {
  services: { service: string; available: boolean; failovers: { cause: string; time_detected: string; time_repaired: string }[] }[]
}

/** Checks that system users see the failover of each service, and when its effects were repaired. */
async function expectListed({ platform }: Scene): Promise<void> {
  const { body } = await platform.system.get<FailoverList>('/failover')
  expect(body.services.map(({ service }) => service)).toEqual(SERVICES)
  for (const { service, failovers } of body.services) {
    expect(failovers).toMatchObject([{ cause: 'new_timeline', time_detected: expect.stringMatching(/^\d{4}-/) }])
    expect([service, failovers[0]?.time_repaired !== '']).toEqual([service, ['catalogue', 'encoding'].includes(service)])
  }
}

/** Checks that a service that does not respond is listed as unavailable, with the failovers of the others. */
async function expectListedWithout({ platform }: Scene, stopped: string): Promise<void> {
  const pid = platform.pid(stopped)
  if (pid === undefined) throw new Error(`${stopped} does not run`)
  process.kill(pid, 'SIGSTOP')
  try {
    const { status, body } = await platform.system.get<FailoverList>('/failover')
    expect(status).toBe(200)
    for (const { service, available, failovers } of body.services)
      expect([service, available, failovers.length]).toEqual([service, service !== stopped, service === stopped ? 0 : 1])
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

async function expectNewUploads(now: Scene): Promise<void> {
  const { platform, tenant, lostJob } = now
  const api = platform.withKey(tenant.key)
  const added = await upload(api, tenant.organisationId, `${sources.url}/other.mp4`, { name: 'new' })
  const video = await waitUntilSettled(api, added.id)
  expect(video.status.status).toBe('ok')
  await expectPlays(video)
  expect(Number(added.job_id)).not.toBe(Number(lostJob.job_id))
  await waitFor(() => countEvents(now, 'video.ready', video) === 1, { timeout: 20_000 })
}

test('a failover to a stale standby keeps accepted videos playable, publishes each set once and leaves no lost files', async () => {
  const now = await failOver(({ url }) => ({ VITASCOPE_DATABASE_URL: url }))
  scene = now
  const before = await now.objects()
  const [formerSet] = listSets(before, now.late)
  expect(await waitForRecord(now, now.early)).toEqual(now.early)
  await expectPlays(now.early)
  await expectReported(now, SERVICES)
  await waitForRecord(now, now.late)
  const late = await waitUntilSettled(now.platform.withKey(now.tenant.key), now.late.video_id)
  expect(late.status.status).toBe('ok')
  await expectPlays(late)
  expect((await now.platform.system.get(`/video/${now.lost.video_id}`)).status).toBe(404)
  await waitUntilSettledIn(now, 'catalogue')
  await waitUntilSettledIn(now, 'encoding')
  await expectListed(now)
  let orphans: string[] = []
  await waitFor(
    async () => {
      orphans = (await now.objects()).filter((name) => ![now.early, late].some(({ media_id }) => name.startsWith(`media/${media_id}/`)))
      return orphans.length === 0 && listSets(await now.objects(), late).length === 1
    },
    { timeout: 30_000, describe: () => `orphaned objects to be removed, except ${orphans.slice(0, 10)}` },
  )
  expect(listSets(await now.objects(), late)).not.toEqual([formerSet])
  expect(listSets(await now.objects(), now.early)).toEqual(listSets(before, now.early))
  await waitFor(() => now.events.length >= 4, { timeout: 20_000, describe: 'the repeated event of the second' })
  expect([now.early, late].map((video) => countEvents(now, 'video.ready', video))).toEqual([1, 1])
  const sent = `select from catalogue.mail where video_id = ${late.video_id} and state = 'sent'`
  await waitFor(async () => (await now.query(sent)).length === 1, { timeout: 20_000, describe: 'the mail of the second to be sent again' })
  expect(await listMails(now.platform)).toHaveLength(3)
  const [usage] = await now.query<{ counted: string; real: string }>(
    `select bytes as counted, (select sum((renditions ->> 'bytes')::bigint) from catalogue.media m where m.organisation_id = u.organisation_id) as real
     from catalogue.organisation_usage u where organisation_id = ${now.tenant.organisationId}`,
  )
  expect(usage?.counted).toBe(usage?.real)
  await expectNewUploads(now)
  await expectListedWithout(now, 'collaboration')
}, 180_000)

longTest(
  'a stale standby of encoding changes no published video, and no work is repeated or reported twice',
  async () => {
    const now = await failOver(({ url }) => ({ VITASCOPE_ENCODING_DATABASE_URL: url }))
    scene = now
    const before = (await now.objects()).filter((name) => name.startsWith('media/'))
    await expectReported(now, ['encoding'])
    await waitUntilSettledIn(now, 'encoding')
    await waitFor(
      async () => (await now.query<{ n: number }>(`select count(*)::int as n from encoding.job where finish_time is null`))[0]?.n === 0,
      { timeout: 30_000, describe: 'all jobs to end' },
    )
    for (const video of [now.early, now.late, now.lost]) {
      expect(await waitForRecord(now, video)).toEqual(video)
      await expectPlays(video)
      expect([countEvents(now, 'video.ready', video), countEvents(now, 'video.failed', video)]).toEqual([1, 0])
    }
    expect(now.events).toHaveLength(3)
    await waitFor(async () => `${await now.objects()}` === `${before}`, {
      timeout: 30_000,
      describe: 'storage to contain playable files only',
    })
    // The first check kept these objects. After the deletion of the video, the next check removes
    // them.
    expect((await now.platform.withKey(now.tenant.key).delete(`/media?media_id=${now.lost.media_id}`)).status).toBe(200)
    await now.query('update encoding.object_prefix set next_sweep = now() where next_sweep is not null')
    await waitFor(async () => listSets(await now.objects(), now.lost).length === 0, {
      timeout: 30_000,
      describe: 'a deleted media to be removed',
    })
    await expectNewUploads(now)
  },
  180_000,
)

longTest(
  'a stale standby of the catalogue receives the results of encoding again, and unknown files are removed',
  async () => {
    const now = await failOver(({ url }) => ({ VITASCOPE_CATALOGUE_DATABASE_URL: url }))
    scene = now
    const before = await now.objects()
    await waitForRecord(now, now.late)
    const late = await waitUntilSettled(now.platform.withKey(now.tenant.key), now.late.video_id)
    expect(late.status.status).toBe('ok')
    await expectReported(now, ['catalogue'])
    await waitUntilSettledIn(now, 'catalogue')
    await expectPlays(now.early)
    await expectPlays(late)
    expect(listSets(await now.objects(), late)).toEqual(listSets(before, late))
    await waitFor(async () => listSets(await now.objects(), now.lost).length === 0, {
      timeout: 30_000,
      describe: 'the set of the lost video to be removed',
    })
    await waitFor(() => now.events.length >= 4, { timeout: 20_000, describe: 'the repeated event of the second' })
    expect([now.early, late].map((video) => countEvents(now, 'video.ready', video))).toEqual([1, 1])
    await expectNewUploads(now)
  },
  180_000,
)
