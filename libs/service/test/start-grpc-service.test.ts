// Faults: C22
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openChannel, serviceCall } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import { IdServiceService } from '@vitascope/proto/catalogue/v1/id'
import { FailoverCause, FailoverServiceService } from '@vitascope/proto/service/v1/failover'
import { createTestDatabase, type TestDatabase, testLog, waitFor } from '@vitascope/testing'
import { testKeyFiles, testPrincipals } from '@vitascope/testing/principal-keys'
import { type ServiceParts, startGrpcService } from '../src/index.ts'

let database: TestDatabase
const noMigrations = mkdtempSync(join(tmpdir(), 'vitascope-service-'))
beforeAll(async () => {
  database = await createTestDatabase({ migrations: noMigrations, schema: 'catalogue' })
})
afterAll(async () => {
  await database?.drop()
  rmSync(noMigrations, { recursive: true })
})

/** Starts a service whose parts record their steps. A call runs until the test ends it. */
async function startRecorded(more: Partial<ServiceParts> = {}) {
  const steps: string[] = []
  const calls: (() => void)[] = []
  const record = (step: string) => async () => void steps.push(step)
  const config = {
    listen: '127.0.0.1:0',
    metricsListen: '127.0.0.1:0',
    databaseUrl: database.url,
    principalKeys: testKeyFiles('catalogue'),
  }
  let db: Db | undefined
  const service = await startGrpcService({ name: 'catalogue', config, log: testLog }, ({ server, openDatabase, stopping }) => {
    db = openDatabase()
    stopping.addEventListener('abort', record('stopping'))
    server.implement(IdServiceService, {
      async nextId() {
        steps.push('call')
        await new Promise<void>((resolve) => calls.push(resolve))
        steps.push('end of call')
        return { id: '1' }
      },
      randomId: async () => ({ id: '1' }),
    })
    return {
      db,
      prepare: record('prepare'),
      start: () => void steps.push('start'),
      loops: [{ run: record('loop'), everyMs: 60_000 }],
      async finish() {
        steps.push('finish')
        steps.push(`database ${(await db?.ping()) ? 'open' : 'closed'}`)
      },
      close: () => void steps.push('close'),
      ...more,
    }
  })
  return { service, steps, calls, ping: () => db?.ping(), db: () => db }
}

const readiness = async (port: number) => (await fetch(`http://127.0.0.1:${port}/readyz`)).status

test('prepares, starts background work and loops, and is ready then', async () => {
  const { service, steps } = await startRecorded()
  expect(steps).toEqual(['prepare', 'start', 'loop'])
  expect(await readiness(service.metricsPort)).toBe(200)
  await service.stop()
})

test('measures the connections of its pools', async () => {
  const { service, db } = await startRecorded()
  const measure = async () => {
    const text = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text()
    return Object.fromEntries(
      [...text.matchAll(/^vitascope_database_(\w+)\{(.*),service="catalogue"\} (\d+)$/gm)].map(([, name, labels, value]) => [
        `${name} ${labels}`,
        Number(value),
      ]),
    )
  }
  // The limit of a pool is 4.
  const limits = { 'connections_limit pool="queries"': 4, 'connections_limit pool="transactions"': 4 }
  expect(await measure()).toMatchObject({ ...limits, 'connections pool="transactions",state="active"': 0 })
  const ends: (() => void)[] = []
  const transactions = Array.from({ length: 5 }, () => db()?.transaction(() => new Promise<void>((resolve) => ends.push(resolve))))
  await waitFor(async () => (await measure())['calls_waiting pool="transactions"'] === 1)
  expect(await measure()).toMatchObject({
    'connections pool="transactions",state="active"': 4,
    'connections pool="transactions",state="idle"': 0,
    'calls_waiting pool="queries"': 0,
  })
  await waitFor(() => ends.splice(0).map((end) => end()).length > 0)
  await waitFor(() => ends.splice(0).map((end) => end()).length > 0)
  await Promise.all(transactions)
  expect(await measure()).toMatchObject({ 'connections pool="transactions",state="idle"': 4, 'calls_waiting pool="transactions"': 0 })
  await service.stop()
})

test('is not ready while its database does not respond', async () => {
  const { service } = await startRecorded({ db: { ping: async () => false, query: async () => [] } })
  expect(await readiness(service.metricsPort)).toBe(503)
  await service.stop()
})

test('stops in order: running calls and loops end, then work is finished, then the pools close', async () => {
  const { service, steps, calls, ping } = await startRecorded()
  const channel = openChannel(service.address, { service: 'catalogue', principals: testPrincipals() })
  const call = channel.client(IdServiceService).nextId({}, serviceCall('encoding', ''))
  await waitFor(async () => calls.length === 1, { describe: 'the call to run' })
  steps.length = 0
  const stopped = service.stop(5_000)
  expect(await readiness(service.metricsPort)).toBe(503)
  calls[0]?.()
  await call
  await stopped
  expect(steps).toEqual(['stopping', 'end of call', 'finish', 'database open', 'close'])
  expect(await ping()).toBe(false)
  channel.close()
})

test('a failed start finishes and closes what was opened', async () => {
  const steps: string[] = []
  const failed = startRecorded({
    prepare: async () => {
      throw new Error('no installation')
    },
    finish: async () => steps.push('finish'),
    close: () => void steps.push('close'),
  })
  await expect(failed).rejects.toThrow('no installation')
  expect(steps).toEqual(['finish', 'close'])
})

test('lists the failovers of its database for system users only', async () => {
  const { service, db } = await startRecorded({ repairsFailovers: true })
  const channel = openChannel(service.address, { service: 'catalogue', principals: testPrincipals() })
  const client = channel.client(FailoverServiceService)
  const toCall = (userType: 'system' | 'standard') => ({
    ...serviceCall('test', 'r'),
    principal: { kind: 'user' as const, keyId: '3', userId: '7', organisationId: '1', userType },
  })
  // The first row, of the creation of the database, is not a failover.
  await db()?.query('insert into failover (system_id, timeline) select system_id, timeline from failover')
  const { failovers, hasRepair } = await client.listFailovers({ pageSize: 0 }, toCall('system'))
  expect(hasRepair).toBe(true)
  expect(failovers).toEqual([
    { failoverId: expect.any(String), cause: FailoverCause.FAILOVER_CAUSE_OLDER_DATA, detectTime: expect.any(Date), repairTime: undefined },
  ])
  await expect(client.listFailovers({ pageSize: -1 }, toCall('system'))).rejects.toMatchObject({ fields: [{ field: 'page_size' }] })
  await expect(client.listFailovers({ pageSize: 0 }, toCall('standard'))).rejects.toMatchObject({ reason: 'SYSTEM_ONLY' })
  channel.close()
  await service.stop()
})
