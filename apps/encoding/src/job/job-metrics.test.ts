import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { createQueue } from '@vitascope/queue'
import { createMetrics } from '@vitascope/telemetry'
import { freePort, testLog } from '@vitascope/testing'
import { observeJobEnds, observeJobs } from './job-metrics.ts'

let unreachableDb: Db
beforeAll(async () => {
  unreachableDb = openPostgres({ url: `postgres://nobody@127.0.0.1:${await freePort()}/none`, schema: 'encoding', log: testLog })
})
afterAll(() => unreachableDb.close())

test('an unavailable database does not remove other metrics from the page', async () => {
  const metrics = createMetrics('encoding')
  metrics.counter('vitascope_things_total', 'Things').inc()
  observeJobs(metrics, unreachableDb, createQueue(unreachableDb), testLog)
  expect(await metrics.text()).toContain('vitascope_things_total{service="encoding"} 1')
})

test('the end of a job is counted once under its outcome, and each outcome starts at zero', async () => {
  const metrics = createMetrics('encoding')
  const ended = observeJobEnds(metrics)
  ended({ createTime: new Date(Date.now() - 90_000) }, { state: 'ok' })
  ended({ createTime: new Date() }, { state: 'failed', code: 5003 })
  const text = await metrics.text()
  const count = (outcome: string) =>
    text.match(new RegExp(`job_duration_seconds_count\\{service="encoding",outcome="${outcome}"\\} (\\d+)`))?.[1]
  expect(['ok', '5003', 'cancelled', '4001'].map(count)).toEqual(['1', '1', '0', '0'])
  expect(text).toContain('job_duration_seconds_bucket{le="60",service="encoding",outcome="ok"} 0')
  expect(text).toContain('job_duration_seconds_bucket{le="120",service="encoding",outcome="ok"} 1')
})
