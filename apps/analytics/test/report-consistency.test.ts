import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Db } from '@vitascope/postgres'
import { reportHandlers } from '../src/report/report-rpc.ts'
import { createReportStore } from '../src/report/report-store.ts'
import { as, buildEvent, openFixture } from './test-analytics.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const firstPage = { pageSize: 0, pageToken: '', skip: 0 }

test('the counts of a report match each other when views are merged between its statements', async () => {
  const videoId = fixture.catalogue.createVideo(100)
  const addView = async () => {
    await fixture.send([buildEvent({ videoId, viewId: randomUUID(), watched: [{ fromSeconds: 0, toSeconds: 100 }] })])
    await fixture.settled()
  }
  await addView()
  let before: Promise<unknown> = Promise.resolve()
  /** Runs reads one after the other, and merges a view after each. */
  const readThenMerge = <T>(read: () => Promise<T>): Promise<T> => {
    const result = before.then(read)
    before = result.then(addView)
    return result
  }
  const db: Db = {
    ...fixture.db,
    query: (text, values) => readThenMerge(() => fixture.db.query(text, values)),
    readOnly: (read, signal) => readThenMerge(() => fixture.db.readOnly(read, signal)),
  }
  const video = { videoId, organisationId: '1', durationMs: 100_000 }
  const known = async () => new Map([[videoId, video]])
  const videos = { findExisting: known, findIncludingDeleted: known, findTexts: async () => new Map(), saveUpdates: async () => {} }
  const reports = reportHandlers({ reports: createReportStore(db), videos })
  const period = { dateStart: '', dateEnd: '9999-12-31' }

  const one = await reports.getDurationViewed({ organisationId: '1', videoId, period }, as('standard'))
  const list = { organisationId: '1', period, videoIds: [], languages: [], detailed: true, byViews: false }
  const { videos: all } = await reports.listVideos({ ...list, ...firstPage }, as('standard'))
  await before
  expect(all).toHaveLength(1)
  for (const report of [one, ...all]) {
    const plays = report.counts?.videoPlays ?? 0
    expect(plays).toBeGreaterThan(0)
    expect(report.watched).toMatchObject({ averagePercentageViewed: 100, averageViewingTime: 100 })
    expect(report.watched?.viewsPerDuration.at(0)).toBe(plays)
  }
})
