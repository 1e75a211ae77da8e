import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { MinuteCounts } from '@vitascope/proto/analytics/v1/insight'
import { createInsightStore } from '../src/insight/insight-store.ts'
import { type LiveView, updateLiveViews } from '../src/view/live-store.ts'
import { as, buildEvent, openFixture } from './test-analytics.ts'

const MINUTE_MS = 60_000
let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const readMinutes = async (organisationId: string, videoId = '') =>
  (await fixture.insights.listMinutes({ organisationId, videoId }, as('standard', organisationId))).minutes
const sum = (minutes: readonly MinuteCounts[]) => {
  const add = (name: 'playerLoads' | 'videoPlays' | 'activeViews') => minutes.reduce((total, row) => total + row[name], 0)
  return [add('playerLoads'), add('videoPlays'), add('activeViews')]
}

test('views, plays and active views are counted for their video and for the organisation', async () => {
  const [videoId, otherId] = [fixture.catalogue.createVideo(100, '81'), fixture.catalogue.createVideo(100, '81')]
  const foreignId = fixture.catalogue.createVideo(100, '82')
  const viewId = randomUUID()
  await fixture.send([
    buildEvent({ videoId, viewId, type: 'EVENT_TYPE_LOAD' }),
    buildEvent({ videoId, viewId: randomUUID(), type: 'EVENT_TYPE_PLAY' }),
    buildEvent({ videoId: otherId, viewId: randomUUID(), type: 'EVENT_TYPE_PLAY' }),
    buildEvent({ videoId: foreignId, viewId: randomUUID(), type: 'EVENT_TYPE_PLAY' }),
  ])
  await fixture.settled()
  expect(sum(await readMinutes('81'))).toEqual([3, 2, 3])
  expect(sum(await readMinutes('81', videoId))).toEqual([2, 1, 2])
  expect(sum(await readMinutes('81', otherId))).toEqual([1, 1, 1])
  // A view plays once, whatever the number of its events.
  for (const type of ['EVENT_TYPE_PLAY', 'EVENT_TYPE_PROGRESS'] as const) {
    await fixture.send([buildEvent({ videoId, viewId, type })])
    await fixture.settled()
  }
  const [loads, plays, active] = sum(await readMinutes('81', videoId))
  expect([loads, plays]).toEqual([2, 2])
  // The second event may have arrived in the next minute.
  expect([2, 3]).toContain(active)
  expect(sum(await readMinutes('82'))).toEqual([1, 1, 1])
})

test('there are 30 minutes, the last of which is the current one', async () => {
  const before = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  const starts = (await readMinutes('83')).map(({ startTime }) => startTime?.getTime() ?? 0)
  expect(starts).toHaveLength(30)
  expect([before, before + MINUTE_MS]).toContain(starts.at(-1))
  expect(starts.map((start) => start - (starts[0] ?? 0))).toEqual(starts.map((_, index) => index * MINUTE_MS))
})

test('the minutes of a video of another organisation are not readable', async () => {
  const videoId = fixture.catalogue.createVideo(100, '84')
  const request = { organisationId: '85', videoId }
  await expect(fixture.insights.listMinutes(request, as('standard', '85'))).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
  const foreign = { organisationId: '84', videoId: '' }
  await expect(fixture.insights.listMinutes(foreign, as('standard', '85'))).rejects.toMatchObject({ reason: 'FOREIGN_ORGANISATION' })
})

describe('a view that is watched for several minutes', () => {
  const organisationId = '86'
  const viewId = randomUUID()
  const update = (lastReceivedMs: number, more: Partial<LiveView> = {}) =>
    fixture.db.transaction(({ query }) =>
      updateLiveViews(query, [{ organisationId, videoId: '860', viewId, lastReceivedMs, isNew: false, startsToPlay: false, ...more }]),
    )
  const readActive = async () => {
    const rows = await fixture.db.query<{ minute: string; active: string }>(
      `select minute_ms / 60000 as minute, active from live_minute where organisation_id = 86 and video_id = 0 order by 1`,
    )
    return rows.map(({ minute, active }) => [Number(minute), Number(active)])
  }

  test('is active once in each minute', async () => {
    const minute = Math.floor(Date.now() / MINUTE_MS)
    const at = (minutes: number, seconds: number) => (minute + minutes) * MINUTE_MS + seconds * 1_000
    await update(at(-1, 1), { isNew: true })
    await update(at(-1, 20))
    await update(at(0, 2))
    await update(at(0, 40))
    // A late event of the earlier minute.
    await update(at(-1, 50))
    expect(await readActive()).toEqual([
      [minute - 1, 1],
      [minute, 1],
    ])
  })

  test('is not counted for events that are merged more than two minutes after their arrival', async () => {
    const before = await readActive()
    await update(Date.now() - 121_000, { viewId: randomUUID(), isNew: true, startsToPlay: true })
    expect(await readActive()).toEqual(before)
  })
})

describe('minutes of the past', () => {
  const now = 1_000 * MINUTE_MS + 5_000
  const insert = (minutes: readonly number[]) =>
    fixture.db.query(`insert into live_minute select n * 60000, 87, 0, 1, 1, 1 from unnest($1::bigint[]) as n`, [minutes])

  test('are listed for half an hour, and removed later', async () => {
    const insights = createInsightStore(fixture.db, () => now)
    await insert([968, 969, 970, 971, 1_000, 1_001])
    const minutes = await insights.listMinutes('87', '')
    expect(minutes.filter(({ active }) => active > 0).map(({ startMs }) => startMs / MINUTE_MS)).toEqual([971, 1_000])
    expect(await insights.removeOldMinutes(1)).toBe(1)
    expect(await insights.removeOldMinutes(10)).toBe(1)
    expect(await insights.removeOldMinutes(10)).toBe(0)
    const rows = await fixture.db.query<{ minute: string }>(
      'select minute_ms / 60000 as minute from live_minute where organisation_id = 87 order by 1',
    )
    expect(rows.map(({ minute }) => Number(minute))).toEqual([970, 971, 1_000, 1_001])
  })

  test('are read by the primary key, one row for each minute', async () => {
    await fixture.db.query(
      `insert into live_minute select (2000 + m) * 60000, 1, v, 1, 1, 1 from generate_series(1, 40) m, generate_series(0, 2000) v`,
    )
    await fixture.db.query('analyze live_minute')
    const plan = await fixture.db.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, costs off, timing off, summary off) select minute_ms, loads, plays, active from live_minute
       where minute_ms = any (array(select (2010 + m) * 60000::bigint from generate_series(1, 30) m)) and organisation_id = 1 and video_id = 7`,
    )
    const text = plan.map((row) => row['QUERY PLAN']).join('\n')
    expect(text).toMatch(/live_minute_pkey/)
    expect(text).not.toMatch(/Seq Scan/)
  })
})
