// Faults: C1
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { recordFigure, redisPath } from '@vitascope/testing'
import { crashRun, describeCrashRun } from './support/crash-run.ts'
import { redisRun, startWithRedis } from './support/redis-run.ts'
import { startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform } from './support/test-platform.ts'
import { readUploadedFiles } from './support/upload-methods.ts'
import { createTenant, upload, waitUntilSettled } from './support/video-steps.ts'

test('uploads survive 10 min of kills: each ends, playable videos are complete, no objects are left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sources-'))
  const sources = await startSourceServer(folder)
  const kinds = ['small.mp4', 'other.mp4', 'good.mp4', 'audio-only.mp3', 'video-only.mp4'] as const
  for (const kind of kinds) await makeSource(folder, kind)
  const shared = redisPath() === undefined ? undefined : await startWithRedis()
  const platform = shared?.platform ?? (await startTestPlatform())
  const seed = Number(process.env['VITASCOPE_TEST_SEED'] ?? Date.now() % 1_000_000)
  try {
    const tenant = await createTenant(platform.system)
    const report = await crashRun(platform, {
      seed,
      seconds: 600,
      tenant,
      files: await readUploadedFiles(kinds, folder, sources),
      redis: shared?.redis,
      gateways: shared?.platform.gateways,
    })
    process.stderr.write(`crash run: ${JSON.stringify(report)}\n`)
    recordFigure('C1', describeCrashRun(report))
    // A job whose attempts were all killed fails with its reason, which is a valid final state.
    expect(Object.keys(report.states).filter((state) => !/^(ok 2000|failed 5\d\d\d)$/.test(state))).toEqual([])
  } catch (error) {
    throw new Error(`with seed ${seed}: ${(error as Error).message}\n${platform.log().slice(-20_000)}`, { cause: error })
  } finally {
    await platform.remove()
    await shared?.redis.stop()
    await sources.close()
    await rm(folder, { recursive: true, force: true })
  }
}, 1_500_000)

const withRedis = redisPath() === undefined ? test.skip : test

withRedis(
  'Redis killed, emptied and full: responses fail in the first second at most',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sources-'))
    const sources = await startSourceServer(folder)
    await makeSource(folder, 'small.mp4')
    const { redis, platform } = await startWithRedis()
    try {
      const tenant = await createTenant(platform.system)
      const { id } = await upload(platform.system, tenant.organisationId, `${sources.url}/small.mp4`)
      await waitUntilSettled(platform.system, id)
      const reports = await redisRun(platform, redis, { limitMs: 1_000, watchMs: 20_000, tenant, videoId: id })
      process.stderr.write(`redis run: ${JSON.stringify(reports)}\n`)
    } finally {
      await platform.remove()
      await redis.stop()
      await sources.close()
      await rm(folder, { recursive: true, force: true })
    }
  },
  300_000,
)
