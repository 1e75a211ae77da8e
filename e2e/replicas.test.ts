// Faults: K14
import { afterAll, expect, test } from '@jest/globals'
import { isLongRun, recordFigure, redisPath, startRedis, type TestRedis } from '@vitascope/testing'
import { nouns } from './endpoint-cases/index.ts'
import { startPlatform } from './support/platform.ts'
import { type ReplicatedPlatform, startReplicas } from './support/replicas.ts'
import { describeRows } from './support/row-suite.ts'

// Replicas share only their database, their storage and, for limits, Redis. An effect of one
// process is visible at the other with the next call. Both answer all rows. The long tests run all
// rows, the others only some.

const SOME = [
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
const only = process.env['VITASCOPE_ROWS']?.split(',') ?? (isLongRun ? undefined : SOME)
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

test('both replicas of each service have responded', async () => {
  const answered = await platform.callCounts()
  process.stderr.write(`calls of each of two replicas: ${JSON.stringify(answered)}\n`)
  const calls = Object.values(answered)
    .flat()
    .reduce((sum, count) => sum + count, 0)
  recordFigure('K14', `${calls} calls answered by two replicas of ${Object.keys(answered).length} services`)
  // Services that some rows do not use are used by the others.
  const requested = Object.entries(answered).filter(([, counts]) => only === undefined || Math.max(...counts) > 1)
  expect(requested.length).toBeGreaterThanOrEqual(only === undefined ? 7 : 4)
  for (const [name, counts] of requested) expect([name, Math.min(...counts) > 0]).toEqual([name, true])
})
