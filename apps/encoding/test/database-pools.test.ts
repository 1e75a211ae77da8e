import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

let environment: TestEnvironment
beforeAll(async () => {
  environment = await startTestEnvironment()
})
afterAll(() => environment.close())

test.each([
  ['a smaller pool size leaves 6 connections for calls', 2, 6 + 2],
  ['a larger pool size applies to calls too', 9, 9 + 9],
])('%s', async (_, poolSize, limit) => {
  const service = await startInProcess(environment, { poolSize })
  try {
    const metrics = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text()
    // The sum of the pool for calls and that of the outbox.
    expect(metrics).toMatch(new RegExp(`^vitascope_database_connections_limit\\{.*pool="queries".*\\} ${limit}$`, 'm'))
  } finally {
    await service.stop()
  }
})
