// Faults: R10, R17
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { type Call, createGrpcServer, type GrpcServer, type Handlers } from '@vitascope/grpc'
import { type AcceptEventsRequest, EventServiceService } from '@vitascope/proto/analytics/v1/event'
import { type ExportDaysResponse, ExportFormat, ExportServiceService } from '@vitascope/proto/analytics/v1/export'
import { ReportServiceService } from '@vitascope/proto/analytics/v1/report'
import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { eventRoutes } from '../src/api/analytics/event-routes.ts'
import { exportRoutes } from '../src/api/analytics/export-routes.ts'
import { reportRoutes } from '../src/api/analytics/report-routes.ts'
import { nextApiKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

type Gateway = Awaited<ReturnType<typeof startTestGateway>>
const routes = [...eventRoutes, ...reportRoutes, ...exportRoutes]
const VIEW = '7d444840-9dc0-41d1-b245-5ffdce74fad2'
const at = Date.now()
const event = { video_id: '42', view_id: VIEW, type: 'progress', at }

let standIns: StandIns
let service: GrpcServer
let serviceAddress: string
let gateway: Gateway
let limited: Gateway
const key = nextApiKey()
const receivedCalls: { request: unknown; call: Call }[] = []
let acceptEvents: (request: AcceptEventsRequest) => Promise<{ accepted: number; rejected: { index: number; message: string }[] }>
let exportParts: () => AsyncGenerator<ExportDaysResponse>

beforeAll(async () => {
  standIns = await startStandIns()
  standIns.keys.set(key, { keyId: '1', userType: 'uploader', organisationId: '2', resources: ['analytics::get'] })
  service = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('analytics') })
  service.implement(EventServiceService, {
    async acceptEvents(request, call) {
      receivedCalls.push({ request, call })
      return await acceptEvents(request)
    },
    async acceptEventBatch({ requests }, call) {
      for (const request of requests) receivedCalls.push({ request, call })
      return { responses: await Promise.all(requests.map((request) => acceptEvents(request))) }
    },
  })
  const counts = { playerLoads: 4, videoPlays: 3, completeViews: 2, bouncedViews: 1 }
  const reports: Pick<Handlers<typeof ReportServiceService>, 'listVideos' | 'listLanguages'> = {
    async listVideos(request, call) {
      receivedCalls.push({ request, call })
      const video = { videoId: '42', counts, durationSeconds: 12.48, titlePublic: 'A', titlePrivate: 'B', description: 'C', language: 'en' }
      const quarter = Array.from({ length: 21 }, (_, index) => (index < 6 ? 3 : 0))
      const watched = { averagePercentageViewed: 25.5, averageViewingTime: 3.18, viewsPerDuration: quarter, maxPercentageViewed: quarter }
      const videos = [{ ...video, watched: request.detailed ? watched : undefined }]
      return { videos, nextPageToken: request.pageToken === '' ? 'more' : '', period: request.period }
    },
    async listLanguages(request, call) {
      receivedCalls.push({ request, call })
      return { languages: [{ language: '', counts }], period: request.period }
    },
  }
  service.implement({ listVideos: ReportServiceService.listVideos, listLanguages: ReportServiceService.listLanguages }, reports)
  service.implement(ExportServiceService, {
    async *exportDays(request, call) {
      receivedCalls.push({ request, call })
      yield* exportParts()
    },
  })
  serviceAddress = await service.listen('127.0.0.1:0')
  const config = { authAddress: standIns.address, analyticsAddress: serviceAddress }
  gateway = await startTestGateway(routes, config)
  limited = await startTestGateway(routes, {
    ...config,
    limits: { ...DEFAULT_LIMITS, address: 1, events: 2, burst: 2, cost: DEFAULT_LIMITS.cost },
  })
})
afterAll(async () => {
  await Promise.all([gateway?.stop(), limited?.stop()])
  await service?.drain(0)
  await standIns?.stop()
})
beforeEach(() => {
  receivedCalls.length = 0
  acceptEvents = async ({ events }) => ({ accepted: events.length, rejected: [] })
})

const send = (body: string, headers: Record<string, string> = {}, to = gateway) =>
  fetch(`${to.url}/v2/analytics/events`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
const readErrorFields = async (response: Response) =>
  ((await response.json()) as { errors?: { field: string }[] }).errors?.map(({ field }) => field).toSorted()

describe('events', () => {
  test('are sent to analytics with all fields, on behalf of the gateway and without an audit log entry', async () => {
    const fullEvent = {
      ...{ ...event, type: 'ended', position: 12.5, watched: [[0, 12.5]], rewatched: [[3, 4.25]], language: 'en', subtitle: 'de' },
      qoe: { startup_ms: 310.5, stalls: 2, stalled_ms: 900, switches: 3, error: 'network' },
    }
    const response = await send(JSON.stringify([fullEvent, { ...event, video_id: 43 }]), { 'user-agent': 'A player' })
    expect([response.status, await response.json()]).toEqual([202, { accepted: 2, rejected: [] }])
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(receivedCalls).toMatchObject([
      {
        call: { principal: { kind: 'service', service: 'gateway' } },
        request: {
          userAgent: 'A player',
          clientAddress: '127.0.0.1',
          events: [
            {
              ...{ videoId: '42', viewId: VIEW, type: 'EVENT_TYPE_ENDED', atMs: at, positionSeconds: 12.5, language: 'en', subtitle: 'de' },
              watched: [{ fromSeconds: 0, toSeconds: 12.5 }],
              rewatched: [{ fromSeconds: 3, toSeconds: 4.25 }],
              quality: { startupMs: 310.5, stalls: 2, stalledMs: 900, switches: 3, error: 'network' },
            },
            { videoId: '43', type: 'EVENT_TYPE_PROGRESS', watched: [], quality: undefined },
          ],
        },
      },
    ])
    expect(standIns.audit).toEqual([])
  })

  test('are accepted as text/plain, as sendBeacon sends them', async () => {
    expect((await send(JSON.stringify([event]), { 'content-type': 'text/plain;charset=UTF-8' })).status).toBe(202)
    expect((await send(JSON.stringify([event]), { 'content-type': 'application/xml' })).status).toBe(415)
  })

  test('are rejected one by one if only their values are invalid', async () => {
    acceptEvents = async () => ({ accepted: 1, rejected: [{ index: 1, message: 'there is no such video' }] })
    const invalidValues = { ...event, video_id: 'none', view_id: 'x', position: -1, watched: [[5, 1]] }
    const response = await send(JSON.stringify([event, invalidValues]))
    expect([response.status, await response.json()]).toEqual([
      202,
      { accepted: 1, rejected: [{ index: 1, message: 'there is no such video' }] },
    ])
    expect(receivedCalls[0]?.request).toMatchObject({
      events: [{}, { videoId: 'none', viewId: 'x', positionSeconds: -1, watched: [{ fromSeconds: 5, toSeconds: 1 }] }],
    })
  })

  test('that are malformed are rejected by index with every invalid field, and the others are accepted', async () => {
    acceptEvents = async ({ events }) => ({
      accepted: events.length - 1,
      rejected: [{ index: 1, message: 'video_id: no such video' }],
    })
    const bad = { ...event, type: 'seek', at: 'now', watched: [[1]], rewatched: 5, qoe: { stalls: -1, x: 1 }, ip: '1' }
    const response = await send(JSON.stringify([{}, event, 5, bad, { ...event, video_id: '43' }, event, null]))
    expect([response.status, await response.json()]).toEqual([
      202,
      {
        accepted: 2,
        rejected: [
          { index: 0, message: 'video_id: is required; view_id: is required; type: is required; at: is required' },
          { index: 2, message: 'must be an object' },
          {
            index: 3,
            message:
              'type: must be one of: load, play, progress, ended; at: must be a number of milliseconds since 1970-01-01 00:00 UTC; ' +
              'watched[0][1]: is required; rewatched: must be an array; qoe.stalls: must be an integer from 0 to 1000000; 2 more problems',
          },
          { index: 4, message: 'video_id: no such video' },
          { index: 6, message: 'must be an object' },
        ],
      },
    ])
    expect(receivedCalls).toMatchObject([{ request: { events: [{ videoId: '42' }, { videoId: '43' }, { videoId: '42' }] } }])
  })

  test.each([
    ['a number out of range', `{"video_id":"42","view_id":"${VIEW}","type":"play","at":1e999}`],
    ['a number that would be rounded', `{"video_id":9007199254740993,"view_id":"${VIEW}","type":"play","at":${at}}`],
    ['a repeated name', `{"video_id":"42","video_id":"43","view_id":"${VIEW}","type":"play","at":${at}}`],
    ['a NUL', `{"video_id":"4\\u00002","view_id":"${VIEW}","type":"play","at":${at}}`],
    ['an unpaired surrogate', `{"video_id":"42","view_id":"${VIEW}","type":"play","at":${at},"language":"\\ud800"}`],
    ['too many intervals', JSON.stringify({ ...event, watched: Array(1_001).fill([0, 1]) })],
    ['more intervals than the limit of every list', JSON.stringify({ ...event, watched: Array(6_000).fill([0, 1]) })],
    ['deep nesting', `{"video_id":${'['.repeat(1_000)}${']'.repeat(1_000)}}`],
  ])('with %s are rejected, and the other events are accepted', async (_, bad) => {
    const response = await send(`[${JSON.stringify(event)},${bad},${JSON.stringify(event)}]`)
    expect([response.status, await response.json()]).toEqual([202, { accepted: 2, rejected: [{ index: 1, message: expect.any(String) }] }])
  })

  test('beyond the first 20,000 values of a request are rejected, and those before them are accepted', async () => {
    const long = { ...event, watched: Array(1_000).fill([0, 1]) }
    const { accepted, rejected } = (await (await send(JSON.stringify(Array(10).fill(long)))).json()) as {
      accepted: number
      rejected: { index: number; message: string }[]
    }
    expect([accepted, rejected.map(({ index }) => index)]).toEqual([6, [6, 7, 8, 9]])
    expect(rejected[0]?.message).toMatch(/20000 values/)
  })

  test('that are all malformed, and empty lists, cause no call to analytics', async () => {
    expect(await (await send('[1,2]')).json()).toMatchObject({ accepted: 0, rejected: [{ index: 0 }, { index: 1 }] })
    expect(await (await send('[]')).json()).toEqual({ accepted: 0, rejected: [] })
    expect(receivedCalls).toEqual([])
  })

  test('are all rejected only if the body is not a list of at most 100 items', async () => {
    for (const body of ['[', '{}', '"text"', 'null', JSON.stringify(Array(101).fill(event)), `[${'1,'.repeat(5_000)}1]`]) {
      expect([body.slice(0, 60), (await send(body)).status]).toEqual([body.slice(0, 60), 400])
    }
    const { errors } = (await (await send(JSON.stringify(Array(101).fill(event)))).json()) as { errors?: unknown }
    expect(errors).toEqual([{ field: 'payload', message: 'must have at most 100 events' }])
    expect(receivedCalls).toEqual([])
  })

  test.each(['VIDEO_UNCHECKED', 'INTAKE_FULL', 'DATABASE_UNAVAILABLE'])(
    'are rejected with 503 and Retry-After while they cannot be stored (%s)',
    async (reason) => {
      acceptEvents = async () => {
        throw new DomainError('unavailable', reason, 'not now')
      }
      const response = await send(JSON.stringify([event]))
      expect([response.status, response.headers.get('retry-after'), await response.json()]).toMatchObject([
        503,
        '1',
        { code: reason.toLowerCase() },
      ])
    },
  )

  test('are rejected with 503 while analytics is unavailable', async () => {
    const alone = await startTestGateway(eventRoutes)
    const response = await send(JSON.stringify([event]), {}, alone)
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'service_unavailable' }])
    await alone.stop()
  })

  test('have a separate budget', async () => {
    const sendOne = () => send(JSON.stringify([event]), {}, limited)
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await sendOne()).status)
    expect(statuses).toEqual([202, 202, 202, 202])
    // The window may end in between, and a new one admits another four. Nine concurrent requests
    // always exceed the budget.
    const rejected = await waitFor(async () => (await Promise.all(Array.from({ length: 9 }, sendOne))).find(({ status }) => status === 429))
    expect(rejected.headers.get('ratelimit-policy')).toBe('"events";q=4;w=2')
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await rejected.json()).toMatchObject({ code: 'rate_limited' })
    // The general budget of the guest is unused: the request is routed, and its path requires a key.
    expect((await fetch(`${limited.url}/v2/analytics/views/2`)).status).toBe(401)
  })
})

describe('event budgets', () => {
  let bounded: Gateway
  beforeAll(async () => {
    const config = { authAddress: standIns.address, analyticsAddress: serviceAddress }
    bounded = await startTestGateway(routes, { ...config, limits: { ...DEFAULT_LIMITS, events: 100, burst: 2, views: 60 } })
  })
  afterAll(() => bounded?.stop())

  test('count events, not requests', async () => {
    const body = JSON.stringify(Array(100).fill(event))
    const responses = []
    for (let nth = 0; nth < 3; nth++) responses.push(await send(body, {}, bounded))
    expect(responses.map(({ status }) => status)).toEqual([202, 202, 429])
    expect(responses[0]?.headers.get('ratelimit')).toMatch(/^"events";r=100;/)
    expect(responses[2]?.headers.get('ratelimit-policy')).toBe('"events";q=200;w=2')
    expect(receivedCalls).toHaveLength(2)
  })

  test('admit only events of stored views above the limit of new views per video', async () => {
    const sent = Array.from({ length: 70 }, () => ({ ...event, video_id: '43', view_id: crypto.randomUUID() }))
    // The window of the previous test may still be open.
    await waitFor(async () => (await send(JSON.stringify(sent), {}, bounded)).status === 202, {
      describe: 'a new window of the event budget',
    })
    const forwarded = receivedCalls.at(-1)?.request as AcceptEventsRequest | undefined
    expect(forwarded?.events.map(({ knownViewOnly }) => knownViewOnly)).toEqual([...Array(60).fill(false), ...Array(10).fill(true)])
  })
})

describe('reports', () => {
  const get = (path: string) => fetch(`${gateway.url}/v2/analytics${path}`, { headers: withKey(key) })

  test('per video have all details, and a next link with the same filter', async () => {
    const filter = encodeURIComponent('{"video_id":["42"],"language":["en",""]}')
    const response = await get(`/views/2/per-video?detailed=1&limit=1&date_start=2030-01-01&date_end=2030-01-31&filter=${filter}`)
    const quarter = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [String(index * 5), index < 6 ? 3 : 0]))
    expect(await response.json()).toEqual([
      {
        ...{ video_id: '42', organisation_id: '2', player_loads: 4, video_plays: 3, complete_views: 2, bounced_views: 1 },
        ...{ date_start: '2030-01-01', date_end: '2030-01-31', video_duration: 12.48 },
        ...{ average_percentage_viewed: 25.5, average_viewing_time: 3.18, max_percentage_viewed: quarter, views_per_duration: quarter },
        ...{ title_public: 'A', title_private: 'B', description: 'C', language: 'en' },
      },
    ])
    expect(receivedCalls[0]?.request).toMatchObject({
      organisationId: '2',
      videoIds: ['42'],
      languages: ['en', ''],
      detailed: true,
      pageSize: 1,
    })
    const link = new URL(/<([^>]*)>/.exec(response.headers.get('link') ?? '')?.[1] ?? '')
    expect(Object.fromEntries(link.searchParams)).toEqual({
      ...{ date_start: '2030-01-01', date_end: '2030-01-31', filter: '{"video_id":["42"],"language":["en",""]}', detailed: '1' },
      ...{ start: '2', limit: '1', cursor: 'more' },
    })
  })

  test('cover 2012-01-01 to today, or the requested period', async () => {
    const [row] = (await (await get('/language/2')).json()) as Record<string, unknown>[]
    expect(row).toMatchObject({ language: '', date_start: '2012-01-01', date_end: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/) })
    const [named] = (await (await get('/language/2?date_from=2030-01-01&date_to=2030-02-28')).json()) as Record<string, unknown>[]
    const [other] = (await (await get('/language/2?date_start=2030-01-01&date_end=2030-02-28')).json()) as Record<string, unknown>[]
    expect([named, other]).toEqual(Array(2).fill(expect.objectContaining({ date_start: '2030-01-01', date_end: '2030-02-28' })))
  })

  test.each([
    ['/views/2/per-video?date_start=2012-02-30', ['date_start']],
    ['/views/2/per-video?date_start=2012-13-01&date_end=12-1-1', ['date_end', 'date_start']],
    ['/views/2/per-video?date_start=0000-01-01', ['date_start']],
    ['/views/2/per-video?date_start=2030-01-02&date_end=2030-01-01', ['date_end']],
    ['/views/2/per-video?date_end=2011-12-31', ['date_end']],
    ['/views/2/per-video?date_start=9999-12-31', ['date_start']],
    ['/language/2?date_from=2030-01-02&date_to=2030-01-01', ['date_to']],
    ['/language/2?date_start=2030-01-02&date_end=2030-01-01', ['date_end']],
    ['/language/2?date_from=2030-01-02&date_start=2030-01-02', ['date_start']],
    ['/views/2/per-video?filter={"video_id":["x"],"tag":1}', ['filter.tag', 'filter.video_id[0]']],
    ['/views/2?filter={"language":["en"]}', ['filter.language']],
    ['/views/2?filter=x', ['filter']],
    ['/views/2/per-video?detailed=maybe&limit=1001&start=0', ['detailed', 'limit', 'start']],
    ['/export/2?format=xml', ['format']],
  ])('reject %s and name the invalid fields', async (path, fields) => {
    const response = await get(path)
    expect([response.status, await readErrorFields(response)]).toEqual([400, fields])
    expect(receivedCalls).toEqual([])
  })
})

test('a filter accepts at most 1,000 videos', async () => {
  const filter = (count: number) => encodeURIComponent(`{"video_id":[${Array(count).fill(1)}]}`)
  const get = (count: number) => fetch(`${gateway.url}/v2/analytics/views/2/per-video?filter=${filter(count)}`, { headers: withKey(key) })
  expect((await get(1_000)).status).toBe(200)
  const response = await get(1_001)
  expect([response.status, await readErrorFields(response)]).toEqual([400, ['filter.video_id']])
  expect((await get(100_000)).status).toBe(431)
})

test('a filter field that is sent as a parameter is rejected with the correct form, and other unknown parameters are ignored', async () => {
  const get = (path: string) => fetch(`${gateway.url}/v2/analytics/views/2${path}`, { headers: withKey(key) })
  for (const name of ['video_id', 'language', 'filter[video_id]', 'filter[language][]', 'filter.video_id', 'video_id[]']) {
    const response = await get(`/per-video?${encodeURIComponent(name)}=999`)
    expect([name, response.status, await readErrorFields(response)]).toEqual([name, 400, [name]])
  }
  const { errors } = (await (await get('/per-video?video_id=999&video_id=1')).json()) as { errors?: unknown }
  expect(errors).toEqual([
    { field: 'video_id', message: 'is a field of filter, which is JSON; send filter={"video_id":["42"]}, percent-encoded' },
  ])
  expect(receivedCalls).toEqual([])
  expect((await get('/per-video?utm_source=mail&title=x')).status).toBe(200)
})

describe('the export', () => {
  const get = (query: string, init: RequestInit = {}) =>
    fetch(`${gateway.url}/v2/analytics/export/2${query}`, { ...init, headers: withKey(key) })
  const line = (n: number) => Buffer.from(`{"n":${n}}\n`)

  test.each([
    ['', ExportFormat.EXPORT_FORMAT_NDJSON, 'application/x-ndjson; charset=utf-8', 'ndjson'],
    ['?format=csv', ExportFormat.EXPORT_FORMAT_CSV, 'text/csv; charset=utf-8', 'csv'],
  ])('is streamed as a file with the query %p', async (query, format, type, ending) => {
    exportParts = async function* () {
      for (let n = 0; n < 1_000; n++) yield { data: line(n) }
    }
    const response = await get(query)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
    expect(response.headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="analytics-2-2012-01-01-[0-9-]+[.]${ending}"$`),
    )
    expect((await response.text()).trimEnd().split('\n')).toHaveLength(1_000)
    expect(receivedCalls[0]?.request).toMatchObject({ organisationId: '2', format })
    const head = await get(query, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('without rows is empty', async () => {
    exportParts = async function* () {}
    const response = await get('')
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  test('returns a problem if it fails before the first row, and ends the response early if it fails later', async () => {
    // biome-ignore lint/correctness/useYield: it fails before its first part.
    exportParts = async function* () {
      throw new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'not now')
    }
    expect((await get('')).status).toBe(503)
    exportParts = async function* () {
      yield { data: line(1) }
      throw new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'not now')
    }
    const broken = await get('')
    expect(broken.status).toBe(200)
    await expect(broken.text()).rejects.toThrow()
  })
})
