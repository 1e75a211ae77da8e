// Faults: C13
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type FaultProxy, freePort, isLongRun, recordFigure, seededRandom, startFaultProxy, waitFor } from '@vitascope/testing'
import { type ApiResponse, createApi } from './support/api.ts'
import { asSuperuser } from './support/database.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type UploadResponse } from './support/video-steps.ts'

const UPLOADS = isLongRun ? 500 : 200
const CLIENTS = 8
/** Share of the parts of replies to API clients that are lost. */
const LOST = 0.3
/** The same between services. Each loss closes a connection and thus ends all calls on it. */
const LOST_BETWEEN_SERVICES = 0.02

let folder: string
let sources: SourceServer
let platform: TestPlatform
let toGateway: FaultProxy
let toCatalogue: FaultProxy

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  const listen = `127.0.0.1:${await freePort()}`
  toCatalogue = await startFaultProxy(listen)
  platform = await startTestPlatform({ VITASCOPE_CATALOGUE_LISTEN: listen, VITASCOPE_CATALOGUE_ADDRESS: toCatalogue.address })
  toGateway = await startFaultProxy(new URL(platform.url).host)
}, 120_000)
afterAll(async () => {
  await toGateway?.close()
  await platform?.remove()
  await toCatalogue?.close()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

test(`${UPLOADS} uploads create one media each although ${LOST * 100} % of the replies, and some between services, are lost`, async () => {
  const seed = Number(process.env['VITASCOPE_TEST_SEED'] ?? Date.now() % 1_000_000)
  const random = seededRandom(seed)
  const { organisationId } = await createTenant(platform.system)
  // Events are only recorded if a webhook receives them.
  sources.setHandler('/hook', (_, response) => response.end())
  const webhook = { organisation_id: organisationId, url: `${sources.url}/hook`, events: ['video.created', 'video.failed'] }
  expect((await platform.system.post('/webhook', webhook)).status).toBe(201)
  const api = createApi(`http://${toGateway.address}/v2`, SYSTEM_KEY)
  const payload = (n: number) => ({ url: `${sources.url}/none.mp4`, organisation_id: organisationId, name: `Lost ${n}` })
  let tries = 0
  const send = async (n: number): Promise<UploadResponse> => {
    for (;;) {
      tries++
      const response: ApiResponse<UploadResponse> | undefined = await api
        .post<UploadResponse>('/video/upload', payload(n), { 'idempotency-key': `lost-${n}` })
        .catch(() => undefined)
      if (response?.status === 200) return response.body
      // The reply is lost, the first call still runs, or a service is unavailable: the client
      // retries.
      if (response) expect([409, 503]).toContain(response.status)
      await delay(20)
    }
  }
  toGateway.shouldDropResponse = () => random() < LOST
  toCatalogue.shouldDropResponse = () => random() < LOST_BETWEEN_SERVICES
  const accepted = new Map<number, UploadResponse>()
  let next = 0
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let n = next++; n < UPLOADS; n = next++) accepted.set(n, await send(n))
    }),
  )
  toCatalogue.shouldDropResponse = () => false
  const lost = [toGateway.lost(), toCatalogue.lost()]
  process.stderr.write(`lost replies (seed ${seed}): ${UPLOADS} uploads in ${tries} tries, lost ${lost.join(' and ')}\n`)
  const distinct = new Set([...accepted.values()].map(({ id }) => id)).size
  recordFigure('C13', `${lost[0]} and ${lost[1]} lost replies, ${tries} tries, ${distinct} media for ${UPLOADS} uploads`)
  expect(lost[0]).toBeGreaterThan(UPLOADS / 10)
  expect(lost[1]).toBeGreaterThan(0)

  expect(distinct).toBe(UPLOADS)
  const stored = await asSuperuser(platform, async (client) => {
    const { rows } = await client.query<{ video_id: string; title: string }>(
      'select video_id::text, title from catalogue.video where organisation_id = $1',
      [organisationId],
    )
    const media = await client.query('select from catalogue.media where organisation_id = $1', [organisationId])
    return { media: media.rowCount, videos: rows }
  })
  expect(stored.media).toBe(UPLOADS)
  expect(stored.videos.map(({ video_id, title }) => `${video_id} ${title}`).toSorted()).toEqual(
    [...accepted].map(([n, { id }]) => `${id} Lost ${n}`).toSorted(),
  )
  const otherPayload = { ...payload(0), name: 'Another payload' }
  const mismatch = await platform.system.post('/video/upload', otherPayload, { 'idempotency-key': 'lost-0' })
  expect(mismatch).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })

  // Each video has one event for its upload and one for its failure: its source does not exist.
  const events = () =>
    asSuperuser(platform, async (client) => {
      const { rows } = await client.query<{ type: string; count: number; videos: number }>(
        `select type, count(*)::int as count, count(distinct object_key)::int as videos from catalogue.event
         where organisation_id = $1 group by type order by type`,
        [organisationId],
      )
      return rows.map(({ type, count, videos }) => `${type} ${count} of ${videos}`)
    })
  const expected = ['video.created', 'video.failed'].map((type) => `${type} ${UPLOADS} of ${UPLOADS}`)
  let seen: string[] = []
  await waitFor(
    async () => {
      seen = await events()
      return `${seen}` === `${expected}`
    },
    { timeout: 120_000, interval: 200, describe: () => `${expected}; there are ${seen}` },
  )
}, 400_000)
