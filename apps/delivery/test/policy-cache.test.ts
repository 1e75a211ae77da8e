// Faults: C33
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, expect, test } from '@jest/globals'
import { DomainError, notFound } from '@vitascope/errors'
import { GetPlaybackPolicyResponse } from '@vitascope/proto/catalogue/v1/playback_policy'
import { createMetrics } from '@vitascope/telemetry'
import { extendTimeout, testLog, waitFor } from '@vitascope/testing'
import { createPolicyCache, type PolicyCache } from '../src/policy-cache.ts'

const OUTAGE_MS = 6_000

/**
 * How the catalogue responds: with this version after a time, that the video does not exist, that it is unavailable,
 * or not at all.
 */
let catalogue: { version: string; afterMs?: number } | 'missing' | 'unavailable' | 'silent'
let calls: number
let pending: (() => void)[]
let metrics: ReturnType<typeof createMetrics>
let cache: PolicyCache

beforeEach(() => {
  catalogue = { version: 'v1' }
  calls = 0
  pending = []
  metrics = createMetrics('test')
  const policies = {
    async getPlaybackPolicy({ videoId }: { videoId: string }) {
      calls++
      if (catalogue === 'silent') await new Promise<void>((resolve) => pending.push(resolve))
      if (catalogue === 'missing') throw notFound('video', videoId)
      if (typeof catalogue === 'string') throw new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'no catalogue')
      const { version, afterMs = 0 } = catalogue
      await delay(afterMs)
      return GetPlaybackPolicyResponse.fromPartial({ sets: [{ version, prefix: 'media/1' }] })
    },
    getPresentationPolicy: () => Promise.reject(new Error('not called')),
  }
  cache = createPolicyCache({ policies, outageMs: OUTAGE_MS, log: testLog, metrics })
})

const get = async (id = '1', maxAgeMs?: number) =>
  (await cache.get({ kind: 'video', id }, maxAgeMs === undefined ? {} : { maxAgeMs }))?.sets[0]?.version
/** Waits until the policy of video 1 is older than 2 s. */
const waitUntilOld = async () => {
  const loadedAt = Date.now()
  await waitFor(() => Date.now() - loadedAt > 2_100)
}
const unavailable = expect.objectContaining({ kind: 'unavailable' })

test('a known policy is used while the catalogue is unavailable, with one call per second, and not for longer than allowed', async () => {
  expect(await get()).toBe('v1')
  const loadedAt = Date.now()
  catalogue = 'unavailable'
  await waitUntilOld()
  const callsBefore = calls
  let requests = 0
  while (Date.now() - loadedAt < OUTAGE_MS - 1_000) {
    expect(await get()).toBe('v1')
    requests++
    await nextTurn()
  }
  expect(requests).toBeGreaterThan(calls - callsBefore)
  expect(calls - callsBefore).toBeLessThanOrEqual((OUTAGE_MS - 1_000) / 1_000)
  expect(await metrics.text()).toContain(`vitascope_delivery_old_rules_total{service="test"} ${requests}`)
  await waitFor(() => Date.now() - loadedAt > OUTAGE_MS)
  await expect(get()).rejects.toEqual(unavailable)
}, 60_000)

test('a catalogue that does not respond delays only the first request', async () => {
  expect(await get()).toBe('v1')
  await waitUntilOld()
  catalogue = 'silent'
  const began = performance.now()
  expect(await get()).toBe('v1')
  expect(performance.now() - began).toBeLessThan(extendTimeout(1_500))
  const next = performance.now()
  for (let request = 0; request < 100; request++) expect(await get()).toBe('v1')
  expect(performance.now() - next).toBeLessThan(extendTimeout(200))
  catalogue = 'unavailable'
  for (const end of pending) end()
})

test('a change applies when the catalogue responds again', async () => {
  expect([await get('1'), await get('2')]).toEqual(['v1', 'v1'])
  await waitUntilOld()
  catalogue = 'unavailable'
  expect([await get('1'), await get('2')]).toEqual(['v1', 'v1'])
  catalogue = { version: 'v2' }
  await waitFor(async () => (await get('1')) === 'v2', { timeout: 2_000, describe: 'the change' })
  expect(await get('2')).toBe('v2')
})

test('a change of each policy applies within 5 s while the catalogue is slow, and requests do not wait for it', async () => {
  const ids = ['1', '2', '3']
  for (const id of ids) expect(await get(id)).toBe('v1')
  catalogue = { version: 'v2', afterMs: 1_600 }
  const changedAt = Date.now()
  let slowestMs = 0
  await waitFor(
    async () => {
      const began = performance.now()
      const versions = await Promise.all(ids.map((id) => get(id)))
      slowestMs = Math.max(slowestMs, performance.now() - began)
      return versions.every((version) => version === 'v2')
    },
    { describe: 'the change of all policies' },
  )
  expect(Date.now() - changedAt).toBeLessThan(extendTimeout(5_000))
  expect(slowestMs).toBeLessThan(extendTimeout(1_500))
})

test('a policy with a maximum age, an unknown policy and a video that did not exist are not read from an old cache', async () => {
  expect(await get()).toBe('v1')
  catalogue = 'missing'
  expect(await get('2')).toBeUndefined()
  catalogue = 'unavailable'
  await waitUntilOld()
  await expect(get('1', 50)).rejects.toEqual(unavailable)
  await expect(get('2')).rejects.toEqual(unavailable)
  await expect(get('3')).rejects.toEqual(unavailable)
  expect(await get('1')).toBe('v1')
  catalogue = { version: 'v2' }
  expect([await get('2'), await get('3')]).toEqual(['v2', 'v2'])
})
