import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { partitionName } from '@vitascope/postgres'
import { DAY_MS, toDay } from '../src/view/day.ts'
import { mergeRound } from '../src/view/merge.ts'
import { EVENTS } from '../src/view/partitions.ts'
import { analyticsDatabase } from './test-analytics.ts'

const MAIN = fileURLToPath(new URL('../src/reconcile-main.ts', import.meta.url))
/** The counts of all videos and days are more than twice as large. */
const HEAP_MIB = 48
const VIDEOS = 150
const DAYS = 20
const HOUR_MS = 3_600_000

let database: Awaited<ReturnType<typeof analyticsDatabase>>
beforeAll(async () => {
  database = await analyticsDatabase()
})
afterAll(() => database.close())

/** Runs the command of `npm run reconcile` with a small heap. */
function reconcileWithSmallHeap(): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const env = { ...process.env, VITASCOPE_ANALYTICS_DATABASE_URL: database.url }
  const args = ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${HEAP_MIB}`, MAIN]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    )
  })
}

test('the comparison keeps the counts of one video in memory, and finds differences of videos with and without events', async () => {
  const { query } = database.db
  const now = Date.now()
  const days = Array.from({ length: DAYS }, (_, ago) => toDay(now - ago * DAY_MS))
  for (const day of days) {
    await query(
      `create table ${partitionName(EVENTS, day)} partition of event for values from ('${day}') to ('${toDay(Date.parse(day) + DAY_MS)}')`,
    )
  }
  const [batch] = await query<{ batch_id: string }>('insert into pending_batch (days, events) values ($1::date[], $2) returning batch_id', [
    days,
    VIDEOS * DAYS,
  ])
  await query(
    `insert into event (batch_id, day, at_ms, received_ms, organisation_id, video_id, view_id, type, duration_ms, watched, rewatched, language, subtitle, error)
     select $1, day, at_ms, at_ms, 1 + video % 3, 1000 + video, gen_random_uuid(), 3, $2, array[0, video * 1000], '{}', 'en', '', ''
     from generate_series(1, $3) video, unnest($4::date[]) day, lateral (select extract(epoch from day::timestamp at time zone 'utc')::bigint * 1000 as at_ms) noon`,
    [batch?.batch_id, HOUR_MS, VIDEOS, days],
  )
  while ((await mergeRound(database.db)) !== 0);

  const sums = `events of ${VIDEOS * DAYS} views since ${days.at(-1)}`
  expect(await reconcileWithSmallHeap()).toMatchObject({ code: 0, stderr: '', stdout: `0 differences in ${VIDEOS * DAYS} ${sums}\n` })

  const [day] = days
  await query('update video_heat set watched[1] = watched[1] + 1 where video_id = 1007 and day = $1', [day])
  await query('delete from video_day where video_id = 1150 and day = $1', [day])
  await query('update organisation_day set plays = plays - 1 where organisation_id = 2 and day = $1', [day])
  await query('insert into video_quality select 999, $1, 1, 0, 0, 0, 0, 0, 0', [day])
  await query('insert into video_quality select 2000, $1, 1, 0, 0, 0, 0, 0, 0', [day])
  const { code, stdout } = await reconcileWithSmallHeap()
  expect(code).toBe(1)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.pop()).toBe(`5 differences in ${VIDEOS * DAYS} ${sums}`)
  expect(lines.map((line) => line.replaceAll(/: .*/g, '')).sort()).toEqual([
    `organisation_day 2 ${day} en `,
    `video_day 1150 ${day} en`,
    `video_heat 1007 ${day} ${HOUR_MS}`,
    `video_quality 2000 ${day}`,
    `video_quality 999 ${day}`,
  ])
}, 120_000)
