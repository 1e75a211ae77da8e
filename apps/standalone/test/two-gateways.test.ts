import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort, redisPath, startRedis, type TestRedis, waitFor } from '@vitascope/testing'
import { type Api, createApi } from './support/api.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { aTenant } from './support/video-steps.ts'

const GATEWAY = join(import.meta.dirname, '../../gateway/src/main.ts')
const withRedis = redisPath() === undefined ? describe.skip : describe

withRedis('a second gateway beside the first, with Redis', () => {
  let redis: TestRedis
  let platform: TestPlatform
  let second: ReturnType<typeof spawn>
  let url: string
  beforeAll(async () => {
    redis = await startRedis()
    const addresses: Record<string, string> = {}
    for (const name of ['AUTH', 'CATALOGUE', 'ENCODING', 'COLLABORATION']) {
      const address = `127.0.0.1:${await freePort()}`
      addresses[`VITASCOPE_${name}_LISTEN`] = address
      addresses[`VITASCOPE_${name}_ADDRESS`] = address
    }
    const port = await freePort()
    const shared = { VITASCOPE_REDIS_URL: redis.url, VITASCOPE_LIMITS: '{"key": 5, "burst": 20, "address": 1000}' }
    platform = await startTestPlatform({ ...addresses, ...shared })
    second = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', GATEWAY], {
      env: {
        ...addresses,
        ...shared,
        PATH: process.env['PATH'],
        VITASCOPE_PORT: String(port),
        // It serves no files here.
        VITASCOPE_DELIVERY_URL: 'http://127.0.0.1:9',
        VITASCOPE_PRINCIPAL_KEY_FILE: join(platform.dataDir, 'secrets', 'principal-key'),
      },
      stdio: 'ignore',
    })
    url = `http://127.0.0.1:${port}`
    await waitFor(() => fetch(`${url}/v2/id`).then(({ ok }) => ok), { timeout: 60_000, describe: 'the second gateway to answer' })
  }, 120_000)
  afterAll(async () => {
    if (second?.exitCode === null) {
      const gone = once(second, 'exit')
      second.kill('SIGTERM')
      await gone
    }
    await platform?.remove()
    await redis?.stop()
  })

  const both = (key: string): [Api, Api] => [platform.withKey(key), createApi(`${url}/v2`, key)]

  test('refuses a revoked key within a second, as the first does', async () => {
    for (let round = 0; round < 3; round++) {
      const { key } = await aTenant(platform.system)
      const gateways = both(key)
      for (const gateway of gateways) expect((await gateway.get('/video')).status).toBe(200)
      expect((await platform.system.delete(`/apikey/${key}`)).status).toBe(200)
      const revoked = performance.now()
      for (const gateway of gateways) {
        await waitFor(async () => (await gateway.get('/video')).status === 401, { timeout: 10_000, interval: 20, describe: 'the refusal' })
      }
      expect(performance.now() - revoked).toBeLessThan(1_000)
    }
  }, 60_000)

  test('takes from the same budget of a key', async () => {
    const { key } = await aTenant(platform.system)
    const gateways = both(key)
    const statuses: number[] = []
    for (let nth = 0; nth < 110; nth++) statuses.push((await gateways[nth % 2]?.get('/video'))?.status ?? 0)
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    expect(statuses.slice(100)).toEqual(Array(10).fill(429))
  }, 60_000)

  test('goes on alone without Redis', async () => {
    await redis.kill()
    const { key } = await aTenant(platform.system)
    for (const gateway of both(key)) {
      for (let nth = 0; nth < 20; nth++) expect((await gateway.get('/video')).status).toBe(200)
    }
  }, 60_000)
})
