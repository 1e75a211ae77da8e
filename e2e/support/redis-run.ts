import { setTimeout as delay } from 'node:timers/promises'
import { startRedis, type TestRedis, waitFor } from '@vitascope/testing'
import { type Api, createApi } from './api.ts'
import { REDIS_FAULTS } from './nemesis.ts'
import { startTwoGateways, type TwoGateways } from './two-gateways.ts'
import type { Tenant } from './video-steps.ts'

/** Too high for any run to reach, so that these limits reject no request. Every request is still counted in Redis. */
const WIDE_LIMITS = '{"key": 100000, "address": 100000, "burst": 4}'

/** Starts two gateways with a Redis. They trust the tests' `X-Forwarded-For`. */
export async function startWithRedis(): Promise<{ redis: TestRedis; platform: TwoGateways }> {
  const redis = await startRedis()
  try {
    const env = { VITASCOPE_REDIS_URL: redis.url, VITASCOPE_LIMITS: WIDE_LIMITS, VITASCOPE_TRUST_PROXY: '127.0.0.1' }
    return { redis, platform: await startTwoGateways(env) }
  } catch (error) {
    await redis.stop()
    throw error
  }
}

/** Effect of a fault on responses. */
export interface RedisReport {
  fault: string
  responses: number
  /** Number of responses of 500 and above, and of broken connections. */
  failures: number
  /** Longest time in milliseconds from the start of the fault, or from its end, until a later failure. */
  lastFailureMs: number
  slowestMs: number
}

interface ProbeResponse {
  at: number
  ms: number
  failed: boolean
}

const CONCURRENCY = 3
/** Maximum password attempts per minute, address and video. Other limits do not change it. */
const MAX_ATTEMPTS = 10

/**
 * Applies every fault to Redis only, while both gateways receive requests continuously. Throws if a
 * request fails with 500 or above later than `limitMs` after a fault or its end, if a request within
 * its budget is rejected, if a retried write runs twice, or if the gateways accept more password
 * attempts of a client than allowed.
 */
export async function redisRun(
  platform: TwoGateways,
  redis: TestRedis,
  { limitMs, watchMs, tenant, videoId }: { limitMs: number; watchMs: number; tenant: Tenant; videoId: string },
): Promise<RedisReport[]> {
  const apis = platform.gateways.map((url) => createApi(`${url}/v2`, tenant.key))
  const guests = platform.gateways.map((url) => createApi(`${url}/v2`))
  const probe = startProbe(apis, tenant, videoId)
  const reports: RedisReport[] = []
  let addresses = 0
  const newAddress = () => ({ 'x-forwarded-for': `198.18.${++addresses >> 8}.${addresses & 255}` })
  /**
   * Returns whether the second gateway knows the count of a new address at the first one. It uses
   * no password attempts of the video, which are limited per minute.
   */
  const isShared = async () => {
    const headers = newAddress()
    const remaining: number[] = []
    for (const guest of guests) {
      const response = await guest.get(`/video/${videoId}`, headers)
      remaining.push(Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]))
    }
    return remaining.every((now, nth) => nth === 0 || now === (remaining[nth - 1] ?? 0) - 1)
  }
  /**
   * Sends wrong passwords from a new address to both gateways in turn, to each gateway three more than
   * the maximum. Returns the number of attempts that the limit accepted.
   */
  const tryPasswords = async (beforeEachAttempt: (nth: number) => Promise<void> | void = () => {}) => {
    const headers = newAddress()
    let acceptedAttempts = 0
    for (let nth = 0; nth < guests.length * (MAX_ATTEMPTS + 3); nth++) {
      await beforeEachAttempt(nth)
      const { status } = (await guests[nth % guests.length]?.get(`/video/${videoId}/password/wrong`, headers)) ?? { status: 0 }
      if (status !== 200 && status !== 429) throw new Error(`an attempt with a password returned ${status}`)
      if (status === 200) acceptedAttempts++
    }
    return acceptedAttempts
  }
  const waitUntilCalm = async (since: number) => {
    const isCalm = () => {
      const after = probe.responses.filter(({ at }) => at > since)
      const last = Math.max(since, ...after.filter(({ failed }) => failed).map(({ at }) => at))
      return performance.now() - last > 1_000 && after.filter(({ at }) => at > last).length > 2 * CONCURRENCY
    }
    await waitFor(isCalm, { timeout: limitMs + 1_000, describe: () => `a second without a failure (${probe.failures().join('; ')})` })
  }

  try {
    const waitUntilShared = () =>
      waitFor(async () => (await isShared()) && (await tryPasswords()) === MAX_ATTEMPTS, {
        timeout: 30_000,
        describe: 'both gateways to count attempts together',
      })
    await waitUntilShared()
    for (const [fault, { begin, end }] of Object.entries(REDIS_FAULTS)) {
      const from = probe.responses.length
      const began = performance.now()
      await begin(redis)
      await waitUntilCalm(began)
      // After a flush, counts restart. While Redis is down or full, each gateway counts separately.
      const flushOnce = (nth: number) => (fault === 'redis emptied' && nth === MAX_ATTEMPTS + 2 ? redis.flush() : undefined)
      const acceptedAttempts = await tryPasswords(flushOnce)
      // In every state of Redis, each gateway accepts at most `MAX_ATTEMPTS` by its own count.
      if (acceptedAttempts <= MAX_ATTEMPTS || acceptedAttempts > MAX_ATTEMPTS * guests.length)
        throw new Error(`${fault}: an address had ${acceptedAttempts} password attempts`)
      // Responses are watched for this time, so that a late failure is noticed.
      await delay(Math.max(0, began + watchMs - performance.now()))
      const repairedAt = performance.now()
      await end(redis)
      await waitUntilCalm(repairedAt)
      await waitUntilShared()
      reports.push(buildReport(fault, probe.responses.slice(from), [began, repairedAt]))
    }
  } finally {
    await probe.stop()
  }
  const late = reports.filter(({ lastFailureMs }) => lastFailureMs > limitMs)
  if (late.length > 0) throw new Error(`responses failed too long: ${JSON.stringify(late)}; ${probe.failures().join('; ')}`)
  await checkFolders(apis, tenant, probe.folderIds)
  return reports
}

function buildReport(fault: string, responses: readonly ProbeResponse[], [began, repairedAt]: readonly [number, number]): RedisReport {
  const failed = responses.filter((response) => response.failed)
  return {
    fault,
    responses: responses.length,
    failures: failed.length,
    lastFailureMs: Math.round(Math.max(0, ...failed.map(({ at }) => at - (at > repairedAt ? repairedAt : began)))),
    slowestMs: Math.round(Math.max(...responses.map(({ ms }) => ms))),
  }
}

/**
 * Sends reads and writes with a key continuously. Each write is sent twice, once per gateway, with the
 * same idempotency key.
 */
function startProbe(apis: readonly Api[], { organisationId }: Tenant, videoId: string) {
  const responses: ProbeResponse[] = []
  /** Ids of the created folders by name, from the first response to each write. */
  const folderIds = new Map<string, string>()
  const unexpected: string[] = []
  let running = true

  const sendProbe = async (call: () => Promise<{ status: number; body: unknown; headers: Headers }> | undefined) => {
    const start = performance.now()
    const response = await call()?.catch(() => undefined)
    const failed = response === undefined || response.status >= 500
    responses.push({ at: performance.now(), ms: performance.now() - start, failed })
    if (failed) unexpected.push(`${response?.status ?? 'no response'} ${JSON.stringify(response?.body ?? '')}`)
    else if (response.status !== 200) throw new Error(`a probe returned ${response.status}: ${JSON.stringify(response.body)}`)
    else if (!/^"key";r=\d+/.test(response.headers.get('ratelimit') ?? '')) throw new Error('the response to a probe has no budget header')
    return failed ? undefined : response
  }
  const reader = async (api: Api) => {
    while (running) await sendProbe(() => api.get(`/video/${videoId}`))
  }
  const writer = async (nth: number) => {
    for (let n = 0; running; n++) {
      const name = `folder ${nth} ${n}`
      for (let sent = 0; sent < 2; ) {
        const payload = { organisation_id: organisationId, name }
        const response = await sendProbe(() => apis[(n + sent) % apis.length]?.post('/folder', payload, { 'idempotency-key': name }))
        if (!response) continue
        const { created } = response.body as { created: string }
        if ((folderIds.get(name) ?? created) !== created)
          throw new Error(`${name} was created twice: ${folderIds.get(name)} and ${created}`)
        folderIds.set(name, created)
        sent++
      }
    }
  }
  const all = Promise.all([
    ...apis.flatMap((api) => Array.from({ length: CONCURRENCY }, () => reader(api))),
    ...Array.from({ length: CONCURRENCY }, (_, nth) => writer(nth)),
  ])
  // `stop` throws the error.
  all.catch(() => {})
  return {
    responses,
    folderIds,
    failures: () => unexpected.slice(-5),
    async stop() {
      running = false
      await all
    },
  }
}

/** Checks that there is exactly one folder per name. */
async function checkFolders([api]: readonly Api[], { organisationId }: Tenant, folderIds: ReadonlyMap<string, string>): Promise<void> {
  const actual: string[] = []
  for (let start = 1; start <= actual.length + 1; start += 1_000) {
    const response = await api?.get<Record<string, { name: string }>[]>(`/folder/${organisationId}?start=${start}&limit=1000`)
    actual.push(...Object.entries(response?.body[0] ?? {}).map(([id, { name }]) => `${id} ${name}`))
  }
  const expected = [...folderIds].map(([name, id]) => `${id} ${name}`)
  if (actual.toSorted().join() !== expected.toSorted().join()) throw new Error(`${expected.length} writes created ${actual.length} folders`)
}
