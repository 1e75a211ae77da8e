// Faults: K14
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { isLongRun, recordFigure, redisPath, startRedis, type TestRedis, waitFor } from '@vitascope/testing'
import { nouns } from './endpoint-cases/index.ts'
import { startPlatform } from './support/platform.ts'
import { type ReplicatedPlatform, startReplicas } from './support/replicas.ts'
import { describeRows } from './support/row-suite.ts'
import { startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { createTenant, upload, waitUntilSettled } from './support/video-steps.ts'

// Replicas share only their database, their storage and, for limits, Redis. The calls of an endpoint
// case go to both replicas: an effect in one must be visible in the next call to the other. Long runs
// use the endpoint cases of all nouns, and other runs those of `DEFAULT_NOUNS`. A list in
// `VITASCOPE_ROWS`, such as `user,folder`, selects others.

const DEFAULT_NOUNS = [
  'organisation',
  'user',
  'api-key',
  'security',
  'setting',
  'media',
  'folder',
  'video-password',
  'queue-job',
  'tus',
  'analytics',
]
const only = process.env['VITASCOPE_ROWS']?.split(',') ?? (isLongRun ? undefined : DEFAULT_NOUNS)
const picked = nouns.filter(({ noun }) => only === undefined || only.includes(noun))

let platform: ReplicatedPlatform
let redis: TestRedis | undefined
afterAll(() => redis?.stop())

describeRows(picked, async () => {
  redis = redisPath() === undefined ? undefined : await startRedis()
  return startPlatform(redis ? { VITASCOPE_REDIS_URL: redis.url } : {}, async (env) => {
    platform = await startReplicas(env)
    return platform
  })
})

test('a changed playback rule is in force in both replicas within 5 s', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sources-'))
  const sources = await startSourceServer(folder)
  try {
    await makeSource(folder, 'small.mp4')
    const tenant = await createTenant(platform.system)
    const api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`)
    const { uri, status } = await waitUntilSettled(api, id)
    expect(status.status).toBe('ok')
    const path = `/organisation/${tenant.organisationId}/playback-rules`
    // Requests alternate between the replicas. A change of these rules does not change the URLs of files.
    const statuses = () => Promise.all(Array.from({ length: 6 }, async () => (await fetch(uri.hls)).status))
    for (const [decision, expected] of [
      ['allow', 200],
      ['deny', 403],
      ['allow', 200],
    ] as const) {
      expect((await api.put(path, { default: decision, rules: [] })).status).toBe(200)
      const isInForce = async () => (await statuses()).every((code) => code === expected)
      await waitFor(isInForce, { timeout: 5_000, describe: `both replicas to ${decision}` })
      // Neither replica applies the earlier rule again.
      expect(await statuses()).toEqual(Array(6).fill(expected))
    }
  } finally {
    await sources.close()
    await rm(folder, { recursive: true })
  }
}, 120_000)

test('both replicas of each service have responded', async () => {
  const callCounts = await platform.callCounts()
  process.stderr.write(`calls of each of two replicas: ${JSON.stringify(callCounts)}\n`)
  const calls = Object.values(callCounts)
    .flat()
    .reduce((sum, count) => sum + count, 0)
  recordFigure('K14', `${calls} calls answered by two replicas of ${Object.keys(callCounts).length} services`)
  // A selection of endpoint cases does not call all services, and a single call reaches only one replica.
  const requested = Object.entries(callCounts).filter(([, counts]) => only === undefined || Math.max(...counts) > 1)
  expect(requested.length).toBeGreaterThanOrEqual(only === undefined ? 7 : 4)
  for (const [name, counts] of requested) expect([name, Math.min(...counts) > 0]).toEqual([name, true])
})
