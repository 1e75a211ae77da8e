import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import type { RedisSettings } from '../src/server/redis/redis.ts'
import { sampleRoutes } from './sample-routes.ts'
import { nextApiKey, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

let keys = 0

/** Starts two gateways that share a Redis. Each key has ten requests. */
export async function startTwoGateways({ sentinels, clusterNodes }: Omit<RedisSettings, 'url'>) {
  const standIns = await startStandIns()
  const start = () =>
    startTestGateway(sampleRoutes, {
      ...{ authAddress: standIns.address, redisSentinels: sentinels, redisClusterNodes: clusterNodes },
      limits: { ...DEFAULT_LIMITS, key: 1, address: 1_000, burst: 10 },
    })
  const gateways = [await start(), await start()] as const
  const readRemaining = async (gateway: 0 | 1, key: string) => {
    const response = await fetch(`${gateways[gateway].url}/v2/sample/1`, { headers: withKey(key) })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`gateway ${gateway} returned ${response.status}`)
    return Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])
  }
  return {
    /** Sends a request to each gateway. Returns true if the second one counts that of the first. Throws if one is rejected. */
    async isShared(): Promise<boolean> {
      const key = nextApiKey()
      standIns.keys.set(key, { keyId: String(++keys), userType: 'system', organisationId: '1', resources: ['sample::get'] })
      return (await readRemaining(0, key)) === 9 && (await readRemaining(1, key)) === 8
    },
    async stop() {
      for (const gateway of gateways) await gateway.stop()
      await standIns.stop()
    },
  }
}
