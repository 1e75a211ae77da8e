import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Event } from '@vitascope/proto/analytics/v1/event'
import type { Dimension } from '@vitascope/proto/analytics/v1/report'
import { buildCountryDatabase } from '@vitascope/testing/country-database'
import { toStoredEvent } from '../src/event/event.ts'
import { toLine } from '../src/event/event-line.ts'
import { createEventStore } from '../src/event/event-store.ts'
import { addDimensions } from '../src/view/dimension-store.ts'
import { type ClientDay, emptyRollUps, type RollUps } from '../src/view/roll-up.ts'
import { as, buildEvent, openFixture } from './test-analytics.ts'

const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
const ADDRESS = '203.0.113.7'
const user = as('uploader')
const allDays = { dateStart: '', dateEnd: '9999-12-31' }
const counts = (playerLoads: number, videoPlays = playerLoads, completeViews = 0, bouncedViews = playerLoads) => ({
  ...{ playerLoads, videoPlays, completeViews, bouncedViews },
})

let folder: string
let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-countries-'))
  const countryDatabaseFile = join(folder, 'countries.mmdb')
  await writeFile(countryDatabaseFile, buildCountryDatabase({ '203.0.113.0/24': 'DE', '2001:db8::/32': 'NL' }))
  fixture = await openFixture({ countryDatabaseFile })
})
afterAll(async () => {
  await fixture.close()
  await rm(folder, { recursive: true })
})

async function readDimension(dimension: Dimension, of: { organisationId?: string; videoId?: string }, call = user) {
  await fixture.settled()
  const request = { organisationId: '', videoId: '', period: allDays, dimension, ...of }
  const { values } = await fixture.reports.listDimension(request, call)
  return Object.fromEntries(values.map(({ value, counts: ofValue }) => [value, ofValue]))
}

test('a view counts under its device, browser, system, country and referrer, in the video and the organisation', async () => {
  const call = as('uploader', '61')
  const [videoId, other] = [fixture.catalogue.createVideo(100, '61'), fixture.catalogue.createVideo(100, '61')]
  const event = (id: string, referrer = ''): Event => buildEvent({ videoId: id, viewId: randomUUID(), type: 'EVENT_TYPE_PLAY', referrer })
  await fixture.send([event(videoId, 'www.example.com'), event(other, 'blog.example.com')], { userAgent: CHROME, clientAddress: ADDRESS })
  await fixture.send([event(videoId)], { userAgent: IPHONE, clientAddress: '2001:db8::1' })
  await fixture.send([event(videoId, '192.0.2.1')], { userAgent: 'x', clientAddress: '198.51.100.1' })
  const expected = {
    DIMENSION_DEVICE: [
      { desktop: counts(1), phone: counts(1), other: counts(1) },
      { desktop: counts(2), phone: counts(1), other: counts(1) },
    ],
    DIMENSION_BROWSER: [
      { chrome: counts(1), safari: counts(1), other: counts(1) },
      { chrome: counts(2), safari: counts(1), other: counts(1) },
    ],
    DIMENSION_OS: [
      { windows: counts(1), ios: counts(1), other: counts(1) },
      { windows: counts(2), ios: counts(1), other: counts(1) },
    ],
    DIMENSION_COUNTRY: [
      { DE: counts(1), NL: counts(1), '': counts(1) },
      { DE: counts(2), NL: counts(1), '': counts(1) },
    ],
    DIMENSION_REFERRER: [
      { 'example.com': counts(1), '': counts(1), other: counts(1) },
      { 'example.com': counts(2), '': counts(1), other: counts(1) },
    ],
  }
  for (const [dimension, [ofVideo, ofOrganisation]] of Object.entries(expected)) {
    expect([dimension, await readDimension(dimension as Dimension, { videoId }, call)]).toEqual([dimension, ofVideo])
    expect([dimension, await readDimension(dimension as Dimension, {}, call)]).toEqual([dimension, ofOrganisation])
  }
  expect((await fixture.reconcile()).differences).toEqual([])
})

test('no table contains the address, the user agent or more of the referrer than its domain', async () => {
  const videoId = fixture.catalogue.createVideo(100, '62')
  const quality = { startupMs: 1, stalls: 0, stalledMs: 0, switches: 0, error: 'network' }
  const event = buildEvent({ videoId, viewId: randomUUID(), type: 'EVENT_TYPE_PLAY', referrer: 'private.example.org', quality })
  await fixture.send([event], { userAgent: IPHONE, clientAddress: '203.0.113.99' })
  await fixture.settled()
  const tables = await fixture.db.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = current_schema::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  expect(tables.length).toBeGreaterThan(10)
  for (const { name } of tables) {
    const rows = await fixture.db.query<{ row: string }>(`select t::text as row from ${name} t`)
    const found = rows.filter(({ row }) => /203\.0\.113\.99|iPhone|private\.example/.test(row))
    expect([name, found]).toEqual([name, []])
  }
})

test('repeated, reordered and replayed events do not change the counts, and a later client moves the view', async () => {
  const videoId = fixture.catalogue.createVideo()
  const view = { videoId, viewId: randomUUID() }
  const now = Date.now()
  const load = buildEvent({ ...view, type: 'EVENT_TYPE_LOAD', atMs: now - 2_000, referrer: 'first.example' })
  const play = buildEvent({ ...view, type: 'EVENT_TYPE_PLAY', atMs: now - 1_000 })
  const last = buildEvent({
    ...view,
    type: 'EVENT_TYPE_PROGRESS',
    atMs: now,
    referrer: 'second.example',
    watched: [{ fromSeconds: 0, toSeconds: 20 }],
  })
  const client = { userAgent: CHROME, clientAddress: ADDRESS }
  await fixture.send([play], client)
  expect(await readDimension('DIMENSION_REFERRER', { videoId })).toEqual({ '': counts(1) })
  // A player that sends its referrer with the first event only.
  await fixture.send([load, play, load], client)
  expect(await readDimension('DIMENSION_REFERRER', { videoId })).toEqual({ 'first.example': counts(1) })
  await fixture.send([last, play, load], client)
  await fixture.send([load], client)
  expect(await readDimension('DIMENSION_REFERRER', { videoId })).toEqual({ 'second.example': counts(1, 1, 0, 0) })
  expect(await readDimension('DIMENSION_DEVICE', { videoId })).toEqual({ desktop: counts(1, 1, 0, 0) })
  expect((await fixture.reconcile()).differences).toEqual([])
})

test('events without a client, of the previous version, add no row, and later events of the view add it', async () => {
  const videoId = fixture.catalogue.createVideo()
  const viewId = randomUUID()
  const now = Date.now()
  const early = toStoredEvent(
    { ...buildEvent({ videoId, viewId, atMs: now - 5_000 }), type: 2 },
    { organisationId: '1', durationMs: 100_000, receivedMs: now, visitor: undefined },
  )
  const day = new Date(early.atMs).toISOString().slice(0, 10)
  await createEventStore(fixture.db).write({ lines: [toLine(early, day)], days: [day] })
  expect(await readDimension('DIMENSION_OS', { videoId })).toEqual({})
  expect((await fixture.reconcile()).differences).toEqual([])
  await fixture.send([buildEvent({ videoId, viewId, type: 'EVENT_TYPE_PLAY' })], { userAgent: IPHONE })
  expect(await readDimension('DIMENSION_OS', { videoId })).toEqual({ ios: counts(1) })
  expect((await fixture.reconcile()).differences).toEqual([])
})

test('on each day, a limited number of referrers have a row, and further ones count as other', async () => {
  const createRow = (referrer: string, loads: number, day = '2026-01-01', organisationId = '70'): [string, ClientDay] => [
    `7\n${day}\n${referrer}\n${organisationId}`,
    {
      ...{ organisationId, videoId: `7${organisationId}`, day, client: `phone/safari/ios/DE/${referrer}` },
      numbers: { loads, plays: 0, completes: 0, bounces: 0 },
      lists: {},
    },
  ]
  const add = (...rows: [string, ClientDay][]) =>
    addDimensions(fixture.db.query, { ...emptyRollUps(), clientDays: new Map(rows) } satisfies RollUps, 2)
  const read = async (table: string, key = '', day = '2026-01-01') => {
    const rows = await fixture.db.query<{ value: string; loads: string }>(
      `select value, loads from ${table} where dimension = 'referrer' and day = $1 and organisation_id = 70 ${key} order by loads desc, value`,
      [day],
    )
    return rows.map(({ value, loads }) => `${value}: ${loads}`)
  }
  await add(createRow('c.example', 1), createRow('a.example', 3), createRow('b.example', 2), createRow('', 4), createRow('other', 5))
  expect(await read('organisation_dimension')).toEqual(['other: 6', ': 4', 'a.example: 3', 'b.example: 2'])
  // A referrer at the limit never gets a row, so a subtraction changes the same row as the addition.
  await add(createRow('c.example', -1), createRow('b.example', -2), createRow('d.example', 1))
  expect(await read('organisation_dimension')).toEqual(['other: 6', ': 4', 'a.example: 3', 'b.example: 0'])
  await add(createRow('c.example', 1), createRow('b.example', 1))
  expect(await read('organisation_dimension')).toEqual(['other: 7', ': 4', 'a.example: 3', 'b.example: 1'])
  expect(await read('video_dimension')).toEqual(await read('organisation_dimension'))
  // Another day and another organisation have their own limits.
  await add(createRow('c.example', 1, '2026-01-02'), createRow('c.example', 1, '2026-01-01', '71'))
  expect(await read('organisation_dimension', '', '2026-01-02')).toEqual(['c.example: 1'])
})

test('the export has a row for each day, video and value, as CSV and NDJSON', async () => {
  const call = as('uploader', '63')
  const videoId = fixture.catalogue.createVideo(100, '63')
  const events = ['a.example', 'b.example', 'b.example'].map((referrer) =>
    buildEvent({ videoId, viewId: randomUUID(), type: 'EVENT_TYPE_PLAY', referrer }),
  )
  await fixture.send(events)
  await fixture.settled()
  const read = async (format: 'EXPORT_FORMAT_CSV' | 'EXPORT_FORMAT_NDJSON') => {
    let text = ''
    const request = { organisationId: '', period: allDays, format, dimension: 'DIMENSION_REFERRER' as const }
    for await (const { data } of fixture.exports.exportDays(request, call)) text += data
    return text.trimEnd().split(/\r?\n/)
  }
  const day = new Date().toISOString().slice(0, 10)
  expect(await read('EXPORT_FORMAT_CSV')).toEqual([
    'day,organisation_id,video_id,dimension,value,player_loads,video_plays,complete_views,bounced_views',
    `${day},63,${videoId},referrer,a.example,1,1,0,1`,
    `${day},63,${videoId},referrer,b.example,2,2,0,2`,
  ])
  expect((await read('EXPORT_FORMAT_NDJSON')).map((line) => JSON.parse(line).value)).toEqual(['a.example', 'b.example'])
})

test('an organisation reads neither another one nor its videos', async () => {
  const videoId = fixture.catalogue.createVideo(100, '64')
  await fixture.send([buildEvent({ videoId, viewId: randomUUID() })])
  await expect(readDimension('DIMENSION_DEVICE', { videoId })).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
  await expect(readDimension('DIMENSION_DEVICE', { organisationId: '64' })).rejects.toMatchObject({ reason: 'FOREIGN_ORGANISATION' })
  await expect(readDimension('DIMENSION_UNSPECIFIED', {})).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
})
