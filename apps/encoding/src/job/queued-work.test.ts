import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { createQueue, type Queue } from '@vitascope/queue'
import { createMetrics } from '@vitascope/telemetry'
import { createTestDatabase, type TestDatabase, testLog } from '@vitascope/testing'
import { observeJobs } from './job-metrics.ts'
import { readQueuedWork } from './queued-work.ts'

let database: TestDatabase
let db: Db
let queue: Queue
beforeAll(async () => {
  database = await createTestDatabase({ migrations: join(import.meta.dirname, '../../migrations'), schema: 'encoding' })
  db = openPostgres({ url: database.url, schema: 'encoding', log: testLog, poolSize: 2 })
  queue = createQueue(db)
})
beforeEach(async () => {
  for (const table of ['work_item', 'chunk', 'job']) await db.query(`delete from ${table}`)
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const insertJob = (jobId: number, state: string, kind = 'renditions') =>
  db.query(`insert into job (job_id, kind, media_id, organisation_id, source_url, state) values ($1, $2, '1', '1', '', $3)`, [
    jobId,
    kind,
    state,
  ])
/** Adds an ended job with chunks of these weights. The last chunk ended so many seconds ago. */
const insertEnded = async (jobId: number, weights: readonly number[], secondsAgo = 0) => {
  await insertJob(jobId, 'ok')
  await db.query(
    `insert into chunk (job_id, chunk, weight, end_time)
     select $1, n, weight, now() - $3::int * interval '1 second' from unnest($2::float8[]) with ordinality as t (weight, n)`,
    [jobId, weights, secondsAgo],
  )
}
const send = (kind: string, cost: number) =>
  db.transaction((tx) => queue.send(tx, { key: 'job:1', kind, group: '1', priority: 0, payload: {}, cost }))
const readWork = () => readQueuedWork(db.query, queue)

test('adds the planned work of waiting and leased tasks of workers, and not that of downloads', async () => {
  for (const [kind, cost] of [
    ['encode', 30_000],
    ['encode', 500],
    ['audio', 2_000],
    ['fetch', 1_000],
  ] as const)
    await send(kind, cost)
  await queue.lease({ kinds: ['encode'], holder: 'w1', leaseMs: 30_000 }, new AbortController().signal)
  expect(await readWork()).toEqual({ encode: 30.5, audio: 2, probe: 0, package: 0, slides: 0, poster: 0, source: 0 })
})

test('counts each source without a plan with the mean work of recent jobs', async () => {
  await insertEnded(1, [10, 20, 0.5])
  await insertEnded(2, [100])
  for (const [index, state] of ['queued', 'fetching', 'probing', 'encoding', 'publishing', 'failed'].entries())
    await insertJob(10 + index, state)
  await insertJob(20, 'probing', 'rendition')
  await insertJob(21, 'queued', 'slides')
  expect((await readWork()).source).toBeCloseTo((4 * (30.5 + 100)) / 2, 6)
})

test('counts 60 s for each source before the first job has ended', async () => {
  await insertJob(1, 'queued')
  await insertJob(2, 'fetching')
  expect((await readWork()).source).toBe(120)
})

test('forgets earlier jobs after 500 chunks', async () => {
  await insertEnded(1, [1_000_000], 60)
  await insertEnded(
    2,
    Array.from({ length: 500 }, () => 0.25),
  )
  await insertJob(3, 'queued')
  expect((await readWork()).source).toBe(125)
})

test('is a metric with a value for each kind, also without work', async () => {
  await send('package', 1_000)
  await insertJob(1, 'queued')
  const metrics = createMetrics('encoding')
  observeJobs(metrics, db, queue, testLog)
  const text = await metrics.text()
  const read = (kind: string) => new RegExp(`queue_work_seconds\\{[^}]*kind="${kind}"[^}]*\\} (\\S+)`).exec(text)?.[1]
  expect(['package', 'source', 'encode', 'fetch'].map(read)).toEqual(['1', '60', '0', undefined])
})
