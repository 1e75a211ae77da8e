import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { createQueue } from '@vitascope/queue'
import { createMetrics } from '@vitascope/telemetry'
import { freePort, testLog } from '@vitascope/testing'
import { observeJobs } from './job-metrics.ts'

let away: Db
beforeAll(async () => {
  away = openPostgres({ url: `postgres://nobody@127.0.0.1:${await freePort()}/none`, schema: 'encoding', log: testLog })
})
afterAll(() => away.close())

test('an unavailable database does not remove other metrics from the page', async () => {
  const metrics = createMetrics('encoding')
  metrics.counter('vitascope_things_total', 'Things').inc()
  observeJobs(metrics, away, createQueue(away), testLog)
  expect(await metrics.text()).toContain('vitascope_things_total{service="encoding"} 1')
})
