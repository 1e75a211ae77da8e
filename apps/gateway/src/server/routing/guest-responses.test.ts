// Faults: A7
import { beforeEach, expect, test } from '@jest/globals'
import { createMetrics } from '@vitascope/telemetry'
import fc from 'fast-check'
import type { GuestCacheRule } from '../route/route.ts'
import { createGuestResponses, type GuestResponses } from './guest-responses.ts'

let nowMs: number
let responses: GuestResponses
/** Number of times that a response was created. */
let created: number
beforeEach(() => {
  nowMs = 0
  created = 0
  responses = createGuestResponses({ metrics: createMetrics('test'), maxBytes: 100_000, now: () => nowMs })
})

const rule: GuestCacheRule = { videoId: '1', organisationId: '7', expireTime: undefined }
const prepare = (body: string) => ({ status: 200, headers: {}, body, contentLength: body.length, etag: '' })
const read = async (url = '/a', body = 'a', ruleOfUrl: GuestCacheRule | null = rule) => {
  const { body: received } = await responses.get(url, async () => {
    created++
    return { response: prepare(body), rule: ruleOfUrl ?? undefined }
  })
  return received
}
/** Receives a message of a stream whose sender has the same clock. */
const receive = (videoIds: string[] = [], organisationIds: string[] = []) =>
  responses.apply({ videoIds, organisationIds, completeUntilMs: nowMs })

test('a response is reused only while the stream confirms that it is current', async () => {
  await read()
  await read()
  expect(created).toBe(2)
  receive()
  for (const _ of [1, 2, 3]) await read()
  expect(created).toBe(3)
  nowMs = 700
  await read()
  expect(created).toBe(3)
  nowMs = 701
  await read()
  expect(created).toBe(4)
  receive()
  await read()
  expect(created).toBe(4)
  responses.clear()
  await read()
  expect(created).toBe(5)
})

test('a response without a rule is shared by concurrent requests only', async () => {
  receive()
  await Promise.all([read('/a', 'a', null), read('/a', 'a', null)])
  expect(created).toBe(1)
  await read('/a', 'a', null)
  expect(created).toBe(2)
})

test('a change deletes the responses of its video or organisation, and no others', async () => {
  receive()
  const other: GuestCacheRule = { videoId: '2', organisationId: '8', expireTime: undefined }
  const readAll = async () => {
    const before = created
    await read('/a')
    await read('/a?more')
    await read('/b', 'b', other)
    return created - before
  }
  expect(await readAll()).toBe(3)
  expect(await readAll()).toBe(0)
  receive(['1'])
  expect(await readAll()).toBe(2)
  receive([], ['8', '9'])
  expect(await readAll()).toBe(1)
  receive(['3'], ['9'])
  expect(await readAll()).toBe(0)
})

test('a response expires with its video, and after a minute', async () => {
  receive()
  await read('/expired', 'a', { ...rule, expireTime: new Date(Date.now() - 1) })
  await read('/expired', 'a', { ...rule, expireTime: new Date(Date.now() - 1) })
  expect(created).toBe(2)
  await read('/a', 'a', { ...rule, expireTime: new Date(Date.now() + 60_000) })
  for (nowMs = 0; nowMs < 60_000; nowMs += 500) {
    receive()
    await read()
  }
  expect(created).toBe(3)
  receive()
  await read()
  expect(created).toBe(4)
})

test('the size of all responses is bounded', async () => {
  receive()
  const body = 'x'.repeat(9_000)
  const urls = Array.from({ length: 50 }, (_, index) => `/${index}`)
  for (const url of urls) await read(url, body, { ...rule, videoId: url })
  created = 0
  for (const url of urls.slice(-9)) await read(url, body, { ...rule, videoId: url })
  expect(created).toBe(0)
  await read('/0', body)
  expect(created).toBe(1)
})

test('an error reaches the requests that share it, and is not cached', async () => {
  receive()
  const fail = () => responses.get('/a', () => Promise.reject(new Error('broken')))
  await expect(Promise.all([fail(), fail()])).rejects.toThrow('broken')
  expect(await read()).toBe('a')
})

interface Write {
  video: number
  committedMs: number
  /** True if the write was made through this gateway. */
  isOwn: boolean
}

test('after any sequence of changes, reads and delays, no response is older than a second or than a change through this gateway', async () => {
  const video = fc.nat(1)
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), video, isOwn: fc.boolean(), byOrganisation: fc.boolean() }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('start' as const), video }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('finish' as const) }) },
    { weight: 12, arbitrary: fc.record({ kind: fc.constant('deliver' as const), afterMs: fc.nat(600), delayMs: fc.nat(40) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('pause' as const), ms: fc.nat(2_000) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('break' as const) }) },
  )
  let served = 0
  let reads = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 120, size: 'max' }), async (steps) => {
      nowMs = 10_000
      responses = createGuestResponses({ metrics: createMetrics('test'), now: () => nowMs })
      const versions = [0, 0, 0]
      const writes: Write[] = []
      /** Notifications that the stream has not delivered. Undefined while there is no stream. */
      let pending: { videoIds: string[]; organisationIds: string[] } | undefined
      const finishers: (() => void)[] = []
      const checks: Promise<void>[] = []
      for (const action of steps) {
        nowMs += 1
        if (action.kind === 'pause') nowMs += action.ms
        else if (action.kind === 'break') {
          pending = undefined
          responses.clear()
        } else if (action.kind === 'deliver') {
          nowMs += action.afterMs
          // The sender confirms the state of now, and the message arrives later.
          const message = { ...(pending ?? { videoIds: [], organisationIds: [] }), completeUntilMs: nowMs + 5_000 }
          pending = { videoIds: [], organisationIds: [] }
          nowMs += action.delayMs
          responses.apply(message)
        } else if (action.kind === 'write') {
          versions[action.video] = (versions[action.video] ?? 0) + 1
          if (action.byOrganisation) pending?.organisationIds.push('7')
          else pending?.videoIds.push(`${action.video}`)
          writes.push({ video: action.video, committedMs: nowMs, isOwn: action.isOwn })
          if (action.isOwn) responses.requireFresh('7')
        } else if (action.kind === 'finish') {
          finishers.shift()?.()
          await new Promise((resolve) => setImmediate(resolve))
        } else {
          const { video } = action
          const startedMs = nowMs
          // A version contains all earlier ones.
          const required = writes
            .filter((write) => write.video === video)
            .findLastIndex(({ isOwn, committedMs }) => isOwn || committedMs < startedMs - 1_000)
          reads++
          const result = responses.get(`/${video}`, async () => {
            const version = versions[video]
            await new Promise<void>((resolve) => finishers.push(resolve))
            return { response: prepare(`${version}`), rule: { videoId: `${video}`, organisationId: '7', expireTime: undefined } }
          })
          const running = finishers.length
          checks.push(result.then(({ body }) => expect(Number(body)).toBeGreaterThan(required)))
          await new Promise((resolve) => setImmediate(resolve))
          if (finishers.length === running) served++
        }
      }
      for (const finish of finishers) finish()
      await Promise.all(checks)
    }),
    { numRuns: 500 },
  )
  // The property is tested with cached responses too.
  expect(served).toBeGreaterThan(reads / 20)
})
