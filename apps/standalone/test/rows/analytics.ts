import { randomUUID } from 'node:crypto'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { House, NounRows, Refused, Row } from '../support/table-row.ts'
import { settled, upload, type VideoRecord } from '../support/video-steps.ts'

const MISSING_VIDEO = '4611686018427387905'
const MISSING = '9007199254740991'
/** Programs without a browser's name may be taken for robots. */
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36' }

interface Told {
  accepted: number
  rejected: { index: number; message: string }[]
}

type Sent = Record<string, unknown>

const anEvent = (video_id: string, more: Sent = {}): Sent => ({ video_id, view_id: randomUUID(), type: 'load', at: Date.now(), ...more })
const tell = ({ as }: House, events: readonly Sent[]) => as.guest.post<Told>('/analytics/events', [...events], BROWSER)
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Four views of the one video that plays: one that only loaded, one that bounced, one of its first half, one of all of it. */
interface Seen {
  videoId: string
  duration: number
  day: string
}

const seen = new WeakMap<object, Promise<Seen>>()

function theViews(house: House): Promise<Seen> {
  const known = seen.get(house.platform)
  if (known) return known
  const made = makeViews(house)
  seen.set(house.platform, made)
  return made
}

async function makeViews(house: House): Promise<Seen> {
  const { video_id, duration: written } = await house.playing()
  const duration = Number(written)
  const at = Date.now()
  const half = duration / 2
  const view = (events: readonly Sent[]) => {
    const view_id = randomUUID()
    return events.map((event) => ({ ...anEvent(video_id, event), view_id, at, language: 'en', subtitle: 'de' }))
  }
  const qoe = { startup_ms: 200, stalls: 1, stalled_ms: 500 }
  const { status, body } = await tell(house, [
    ...view([{ type: 'load' }]),
    ...view([{ type: 'load' }, { type: 'play', position: 0 }]),
    ...view([{ type: 'play' }, { type: 'progress', position: half, watched: [[0, half]], rewatched: [[0, half / 4]], qoe }]),
    ...view([{ type: 'ended', position: duration, watched: [[0, duration]], qoe: { startup_ms: 400, error: 'media' } }]),
  ])
  expect([status, body]).toEqual([202, { accepted: 6, rejected: [] }])
  return { videoId: video_id, duration, day: dayOf(at) }
}

const COUNTS = { player_loads: 4, video_plays: 3, complete_views: 1, bounced_views: 1 }
const ofVideo = (videoId: string) => `filter=${encodeURIComponent(JSON.stringify({ video_id: [videoId] }))}`

/** What was told shows within seconds. */
async function shows<Body>(house: House, path: string, check: (body: Body) => void): Promise<void> {
  let wrong = ''
  const look = async () => {
    try {
      const { status, body } = await house.as.uploader.get<Body>(path)
      expect(status).toBe(200)
      check(body)
      return true
    } catch (error) {
      wrong = error instanceof Error ? error.message : String(error)
      return false
    }
  }
  await waitFor(look, { timeout: 30_000, describe: () => `${path} to show it: ${wrong}` })
}

/** What every report refuses: other organisations, videos that are not there, and bad days. */
async function wrongReports(
  house: House,
  at: (organisationId: string, videoId: string) => string,
  days = ['date_start', 'date_end'],
): Promise<Refused[]> {
  const { owner, stranger } = house
  const [start = '', end = ''] = days
  const { videoId } = await theViews(house)
  const path = at(owner.organisationId, videoId)
  const refused = { method: 'GET', path }
  const named = at('1', '1') !== at('1', '2')
  return [
    { ...refused, as: 'guest', status: 401 },
    { ...refused, as: 'stranger', status: 403, code: 'foreign_organisation' },
    ...[stranger.organisationId, MISSING, 'x'].map((id) => ({
      method: 'GET',
      path: at(id, videoId),
      status: 403,
      code: 'foreign_organisation',
    })),
    ...[MISSING, 'x'].map((id) => ({
      as: 'system' as const,
      method: 'GET',
      path: at(id, videoId),
      status: 404,
      code: 'organisation_not_found',
    })),
    ...(named
      ? [MISSING_VIDEO, MISSING, 'x', '9'.repeat(30)].map((id) => ({
          method: 'GET',
          path: at(owner.organisationId, id),
          status: 404,
          code: 'video_not_found',
        }))
      : []),
    ...(named
      ? [{ as: 'stranger' as const, method: 'GET', path: at(stranger.organisationId, videoId), status: 404, code: 'video_not_found' }]
      : []),
    ...(start === ''
      ? []
      : [
          { ...refused, path: `${path}?${start}=2012-02-30&${end}=2030-1-1`, status: 400, fields: [start, end] },
          { ...refused, path: `${path}?${start}=2030-01-02&${end}=2030-01-01`, status: 400, fields: [end] },
          { ...refused, path: `${path}?${start}=9999-12-31`, status: 400, fields: [start] },
          { ...refused, path: `${path}?${end}=2011-12-31`, status: 400, fields: [end] },
        ]),
  ]
}

async function wrongFilters(house: House, path: string, more: Refused[] = []): Promise<Refused[]> {
  const { video_id: foreign } = await foreignVideo(house)
  const filtered = (filter: unknown) => `${path}?filter=${encodeURIComponent(typeof filter === 'string' ? filter : JSON.stringify(filter))}`
  const refused = { method: 'GET', status: 400 }
  return [
    { ...refused, path: filtered('x'), fields: ['filter'] },
    { ...refused, path: filtered({ video_id: ['x', '1', -1] }), fields: ['filter.video_id[0]', 'filter.video_id[2]'] },
    { ...refused, path: filtered({ video_id: Array(1_001).fill(1) }), fields: ['filter.video_id'] },
    { ...refused, path: filtered({ title: 'x' }), fields: ['filter.title'] },
    { ...refused, path: filtered({ video_id: [foreign] }), status: 404, code: 'video_not_found' },
    { ...refused, path: filtered({ video_id: [MISSING_VIDEO] }), status: 404, code: 'video_not_found' },
    ...more,
  ]
}

async function foreignVideo({ as, stranger, sources }: House): Promise<VideoRecord> {
  const { id } = await upload(as.stranger, stranger.organisationId, `${sources.url}/none.mp4`)
  return settled(as.stranger, id)
}

const wrongPages = (path: string): Refused[] => [
  { method: 'GET', path: `${path}?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
  { method: 'GET', path: `${path}?cursor=x`, status: 400, fields: ['cursor'] },
]

const languageRow = (endpoint: string, path: string, language: string): Row => ({
  endpoint,
  async works(house) {
    const { owner } = house
    const { day } = await theViews(house)
    const ofDay = { language, organisation_id: owner.organisationId, date_start: day, date_end: day }
    const check = (rows: Sent[]) => {
      const row = rows.find((one) => one['language'] === language)
      expect(row).toMatchObject(ofDay)
      expect(Number(row?.['player_loads'])).toBeGreaterThanOrEqual(4)
      expect(Number(row?.['complete_views'])).toBeGreaterThanOrEqual(1)
    }
    const at = `${path}/${owner.organisationId}`
    await shows(house, `${at}?date_from=${day}&date_to=${day}`, check)
    await shows(house, `${at}?date_start=${day}&date_end=${day}`, check)
    expect((await house.as.system.get(`${at}?date_from=2012-01-01&date_to=2012-01-02`)).body).toEqual([])
  },
  async refused(house) {
    const at = `${path}/${house.owner.organisationId}`
    return [
      ...(await wrongReports(house, (organisation) => `${path}/${organisation}`, ['date_from', 'date_to'])),
      { method: 'GET', path: `${at}?date_start=2030-01-02&date_end=2030-01-01`, status: 400, fields: ['date_end'] },
      { method: 'GET', path: `${at}?date_from=2030-01-02&date_start=2030-01-02`, status: 400, fields: ['date_start'] },
    ]
  },
})

export const analyticsRows: NounRows = {
  noun: 'analytics',
  rows: [
    languageRow('GET /analytics/language/{organisation_id}', '/analytics/language', 'en'),
    languageRow('GET /analytics/language/subtitle/{organisation_id}', '/analytics/language/subtitle', 'de'),
    {
      endpoint: 'GET /analytics/views/{id}',
      async works(house) {
        const { owner } = house
        const { videoId, day } = await theViews(house)
        const path = `/analytics/views/${owner.organisationId}`
        const record = {
          organisation_id: owner.organisationId,
          ...COUNTS,
          date_start: '2012-01-01',
          date_end: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        }
        await shows(house, `${path}?${ofVideo(videoId)}`, (body) => expect(body).toEqual(record))
        expect((await house.as.system.get(`${path}?${ofVideo(videoId)}&date_start=${day}`)).body).toMatchObject({
          ...COUNTS,
          date_start: day,
        })
        const before = await house.as.owner.get(`${path}?date_end=2012-01-01`)
        expect(before.body).toEqual({
          organisation_id: owner.organisationId,
          ...{ player_loads: 0, video_plays: 0, complete_views: 0, bounced_views: 0, date_start: '2012-01-01', date_end: '2012-01-01' },
        })
        expect((await house.as.owner.get(`${path}?date_start=0001-01-01&date_end=9999-12-31`)).status).toBe(200)
      },
      async refused(house) {
        const path = `/analytics/views/${house.owner.organisationId}`
        const languages = `${path}?filter=${encodeURIComponent('{"language":["en"]}')}`
        return [
          ...(await wrongReports(house, (id) => `/analytics/views/${id}`)),
          ...(await wrongFilters(house, path, [{ method: 'GET', path: languages, status: 400, fields: ['filter.language'] }])),
        ]
      },
    },
    {
      endpoint: 'GET /analytics/views/{id}/per-day',
      async works(house) {
        const { owner } = house
        const { videoId, day } = await theViews(house)
        const path = `/analytics/views/${owner.organisationId}/per-day?${ofVideo(videoId)}`
        await shows(house, path, (body) => expect(body).toEqual([{ day, organisation_id: owner.organisationId, ...COUNTS }]))
        expect((await house.as.system.get(`${path}&date_end=2012-01-01`)).body).toEqual([])
      },
      async refused(house) {
        const path = `/analytics/views/${house.owner.organisationId}/per-day`
        return [
          ...(await wrongReports(house, (id) => `/analytics/views/${id}/per-day`)),
          ...(await wrongFilters(house, path)),
          ...wrongPages(path),
        ]
      },
    },
    {
      endpoint: 'GET /analytics/views/{org_id}/per-video',
      async works(house) {
        const { owner } = house
        const { videoId, day, duration } = await theViews(house)
        const at = `/analytics/views/${owner.organisationId}/per-video?date_start=${day}&date_end=${day}`
        const record = { video_id: videoId, organisation_id: owner.organisationId, ...COUNTS, date_start: day, date_end: day }
        await shows(house, `${at}&${ofVideo(videoId)}`, (body) => expect(body).toEqual([record]))
        const { body: detailed } = await house.as.system.get<Sent[]>(`${at}&${ofVideo(videoId)}&detailed=true`)
        expect(detailed).toEqual([
          {
            ...record,
            ...{ video_duration: duration, title_public: 'Plays', title_private: 'Plays', description: '', language: expect.any(String) },
            ...{ average_percentage_viewed: expect.any(Number), average_viewing_time: expect.any(Number) },
            ...{ views_per_duration: expect.any(Object), max_percentage_viewed: expect.any(Object) },
          },
        ])
        const narrowed = (language: string) => encodeURIComponent(JSON.stringify({ video_id: [videoId], language: [language] }))
        expect((await house.as.owner.get(`${at}&filter=${narrowed('en')}`)).body).toEqual([record])
        expect((await house.as.owner.get(`${at}&filter=${narrowed('fr')}`)).body).toEqual([])
      },
      async refused(house) {
        const path = `/analytics/views/${house.owner.organisationId}/per-video`
        const languages = `${path}?filter=${encodeURIComponent(JSON.stringify({ language: ['x'.repeat(36)] }))}&detailed=maybe`
        return [
          ...(await wrongReports(house, (id) => `/analytics/views/${id}/per-video`)),
          ...(await wrongFilters(house, path, [
            { method: 'GET', path: languages, status: 400, fields: ['detailed', 'filter.language[0]'] },
          ])),
          ...wrongPages(path),
        ]
      },
    },
    {
      endpoint: 'GET /analytics/views/{id}/video/{video_id}',
      async works(house) {
        const { owner } = house
        const { videoId, day, duration } = await theViews(house)
        const path = `/analytics/views/${owner.organisationId}/video/${videoId}?date_start=${day}&date_end=${day}`
        const record = { video_id: videoId, organisation_id: owner.organisationId, video_duration: duration, ...COUNTS }
        await shows(house, path, (body) => expect(body).toEqual({ ...record, date_start: day, date_end: day }))
        expect((await house.as.system.get(path)).body).toMatchObject(record)
      },
      refused: (house) => wrongReports(house, (id, video) => `/analytics/views/${id}/video/${video}`),
    },
    {
      endpoint: 'GET /analytics/views/{id}/video/{video_id}/per-day',
      async works(house) {
        const { owner } = house
        const { videoId, day } = await theViews(house)
        const path = `/analytics/views/${owner.organisationId}/video/${videoId}/per-day`
        await shows(house, path, (body) =>
          expect(body).toEqual([{ day, video_id: videoId, organisation_id: owner.organisationId, ...COUNTS }]),
        )
        expect((await house.as.system.get(`${path}?date_end=2012-01-01`)).body).toEqual([])
      },
      async refused(house) {
        const { videoId } = await theViews(house)
        return [
          ...(await wrongReports(house, (id, video) => `/analytics/views/${id}/video/${video}/per-day`)),
          ...wrongPages(`/analytics/views/${house.owner.organisationId}/video/${videoId}/per-day`),
        ]
      },
    },
    {
      endpoint: 'GET /analytics/duration-viewed/{id}/video/{video_id}',
      async works(house) {
        const { owner } = house
        const { videoId, day, duration } = await theViews(house)
        const path = `/analytics/duration-viewed/${owner.organisationId}/video/${videoId}?date_start=${day}&date_end=${day}`
        await shows<Record<string, Record<string, number>>>(house, path, (body) => {
          expect(body).toMatchObject({ video_id: videoId, organisation_id: owner.organisationId, video_duration: duration, ...COUNTS })
          expect(Object.keys(body['views_per_duration'] ?? {})).toEqual(Array.from({ length: 21 }, (_, place) => String(place * 5)))
          // The first half by two, the rest by one; one never moved.
          expect(body['views_per_duration']).toMatchObject({ 0: 2, 25: 2, 75: 1, 95: 1, 100: 1 })
          expect(body['max_percentage_viewed']).toMatchObject({ 0: 1, 50: 1, 100: 1 })
          expect(Math.abs(Number(body['average_percentage_viewed']) - 50)).toBeLessThan(10)
        })
      },
      refused: (house) => wrongReports(house, (id, video) => `/analytics/duration-viewed/${id}/video/${video}`),
    },
    {
      endpoint: 'GET /analytics/heatmap/{organisation_id}/video/{video_id}',
      async works(house) {
        const { owner } = house
        const { videoId, day, duration } = await theViews(house)
        const path = `/analytics/heatmap/${owner.organisationId}/video/${videoId}?date_start=${day}&date_end=${day}`
        await shows<{ watched: number[]; rewatched: number[] }>(house, path, (body) => {
          expect(body).toMatchObject({ video_id: videoId, video_duration: duration, cell_seconds: 1, date_start: day, date_end: day })
          expect([body.watched.length, body.watched[0], body.watched.at(-1)]).toEqual([Math.ceil(duration), 2, 1])
          expect([body.rewatched.length, body.rewatched[0], body.rewatched.at(-1)]).toEqual([Math.ceil(duration), 1, 0])
        })
      },
      refused: (house) => wrongReports(house, (id, video) => `/analytics/heatmap/${id}/video/${video}`),
    },
    {
      endpoint: 'GET /analytics/realtime/{organisation_id}',
      async works(house) {
        const { owner } = house
        const { video_id } = await house.video()
        await tell(house, [anEvent(video_id), anEvent(video_id, { type: 'play' })])
        await shows<{ views: number; videos: Sent[] }>(house, `/analytics/realtime/${owner.organisationId}`, (body) => {
          expect(body).toMatchObject({ organisation_id: owner.organisationId, videos: expect.arrayContaining([{ video_id, views: 2 }]) })
          expect(body.views).toBeGreaterThanOrEqual(2)
        })
      },
      refused: (house) => wrongReports(house, (id) => `/analytics/realtime/${id}`, []),
    },
    {
      endpoint: 'GET /analytics/viewers/{organisation_id}/per-day',
      async works(house) {
        const { owner } = house
        const { day } = await theViews(house)
        const path = `/analytics/viewers/${owner.organisationId}/per-day?date_start=${day}&date_end=${day}`
        await shows(house, path, (body) => expect(body).toEqual([{ day, organisation_id: owner.organisationId, unique_viewers: 1 }]))
      },
      async refused(house) {
        const path = `/analytics/viewers/${house.owner.organisationId}/per-day`
        return [...(await wrongReports(house, (id) => `/analytics/viewers/${id}/per-day`)), ...wrongPages(path)]
      },
    },
    {
      endpoint: 'GET /analytics/viewers/{organisation_id}/video/{video_id}/per-day',
      async works(house) {
        const { owner } = house
        const { day, videoId } = await theViews(house)
        const path = `/analytics/viewers/${owner.organisationId}/video/${videoId}/per-day?date_start=${day}&date_end=${day}`
        const record = { day, video_id: videoId, organisation_id: owner.organisationId, unique_viewers: 1 }
        await shows(house, path, (body) => expect(body).toEqual([record]))
      },
      refused: (house) => wrongReports(house, (id, video) => `/analytics/viewers/${id}/video/${video}/per-day`),
    },
    {
      endpoint: 'GET /analytics/qoe/{organisation_id}/video/{video_id}/per-day',
      async works(house) {
        const { owner } = house
        const { day, videoId } = await theViews(house)
        const path = `/analytics/qoe/${owner.organisationId}/video/${videoId}/per-day?date_start=${day}&date_end=${day}`
        const figures = {
          views: 2,
          started_views: 2,
          average_startup_ms: 300,
          stalled_views: 1,
          stalls: 1,
          stalled_ms: 500,
          error_views: 1,
        }
        await shows(house, path, (body) =>
          expect(body).toEqual([{ day, video_id: videoId, organisation_id: owner.organisationId, ...figures }]),
        )
      },
      refused: (house) => wrongReports(house, (id, video) => `/analytics/qoe/${id}/video/${video}/per-day`),
    },
    {
      endpoint: 'GET /analytics/export/{organisation_id}',
      async works(house) {
        const { platform, owner } = house
        const { day, videoId } = await theViews(house)
        const of = `/v2/analytics/export/${owner.organisationId}?date_start=${day}&date_end=${day}`
        const read = async (format: string) => {
          const headers = { authorization: `Bearer ${owner.key}` }
          const answer = await fetch(`${platform.url}${of}&format=${format}`, { headers })
          return { status: answer.status, type: answer.headers.get('content-type'), lines: (await answer.text()).trimEnd().split(/\r?\n/) }
        }
        const row = async () => {
          const { status, type, lines } = await read('ndjson')
          expect([status, type]).toEqual([200, 'application/x-ndjson; charset=utf-8'])
          return lines.map((line) => JSON.parse(line || '{}') as Sent).find((one) => one['video_id'] === videoId)
        }
        await waitFor(async () => (await row())?.['player_loads'] === 4, { timeout: 30_000, describe: 'the views in the export' })
        expect(await row()).toMatchObject({ day, organisation_id: owner.organisationId, video_id: videoId, language: 'en', ...COUNTS })
        const csv = await read('csv')
        expect([csv.status, csv.type]).toEqual([200, 'text/csv; charset=utf-8'])
        const names = csv.lines[0]?.split(',') ?? []
        expect(names.slice(0, 5)).toEqual(['day', 'organisation_id', 'video_id', 'language', 'player_loads'])
        expect(csv.lines.find((line) => line.includes(videoId))).toMatch(
          new RegExp(`^${day},${owner.organisationId},${videoId},en,4,3,1,1,`),
        )
      },
      async refused(house) {
        const path = `/analytics/export/${house.owner.organisationId}?format=xml`
        return [...(await wrongReports(house, (id) => `/analytics/export/${id}`)), { method: 'GET', path, status: 400, fields: ['format'] }]
      },
    },
    {
      endpoint: 'POST /analytics/events',
      async works(house) {
        const { as, owner } = house
        const { video_id } = await house.video()
        const views = Array.from({ length: 99 }, () => anEvent(video_id))
        const twice = anEvent(video_id, { type: 'play', position: 0 })
        expect(await tell(house, [...views, twice])).toMatchObject({ status: 202, body: { accepted: 100, rejected: [] } })
        // Again, in another order, and as a beacon: nothing more.
        const beacon = {
          body: JSON.stringify([twice, ...views.slice(0, 50)]),
          headers: { ...BROWSER, 'content-type': 'text/plain;charset=UTF-8' },
        }
        expect(await as.guest.send('POST', '/analytics/events', beacon)).toMatchObject({ status: 202, body: { accepted: 51 } })
        const path = `/analytics/views/${owner.organisationId}/video/${video_id}`
        await shows(house, path, (body) => expect(body).toMatchObject({ player_loads: 100, video_plays: 1 }))

        const odd = [
          anEvent(video_id),
          anEvent(MISSING_VIDEO),
          anEvent('x'),
          anEvent(video_id, { view_id: 'x' }),
          anEvent(video_id, { at: Date.now() - 25 * 3_600_000 }),
          anEvent(video_id, { at: Date.now() + 10 * 60_000 }),
          anEvent(video_id, { position: -1 }),
          anEvent(video_id, { watched: [[5, 1]] }),
          anEvent(video_id, { rewatched: [[-1, 1]] }),
        ]
        const { status, body } = await tell(house, odd)
        expect([status, body.accepted, body.rejected.map(({ index }) => index)]).toEqual([202, 1, [1, 2, 3, 4, 5, 6, 7, 8]])
        for (const { message } of body.rejected) expect(message).not.toBe('')
        await shows(house, path, (counts) => expect(counts).toMatchObject({ player_loads: 101, video_plays: 1 }))
      },
      async refused(house) {
        const { video_id } = await house.video()
        const event = anEvent(video_id)
        const refused = { as: 'guest' as const, method: 'POST', path: '/analytics/events', status: 400 }
        return [
          { ...refused, fields: ['payload'] },
          { ...refused, payload: [], fields: ['payload'] },
          { ...refused, payload: event, fields: ['payload'] },
          { ...refused, payload: Array(101).fill(event), fields: ['payload'] },
          { ...refused, payload: [{}], fields: ['[0].video_id', '[0].view_id', '[0].type', '[0].at'] },
          {
            ...refused,
            payload: [
              event,
              { ...event, type: 'seek', at: 'now', watched: 5, language: 'x'.repeat(36), qoe: { stalls: -1 }, organisation_id: '1' },
            ],
            fields: ['[1].type', '[1].at', '[1].watched', '[1].language', '[1].qoe.stalls', '[1].organisation_id'],
          },
          { ...refused, payload: [{ ...event, watched: Array(1_001).fill([0, 1]) }], fields: ['[0].watched'] },
          { ...refused, payload: Array.from({ length: 100_000 }, () => 1) },
        ]
      },
    },
  ],
  samples: {
    payloads: { 'POST /analytics/events': (v) => ({ video_id: v['video_id'], view_id: randomUUID(), type: 'load', at: Date.now() }) },
  },
}
