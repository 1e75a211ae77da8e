import { afterEach, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { waitFor } from '@vitascope/testing'
import { pino } from 'pino'
import { type RevocationSubscription, subscribeToRevocations } from './auth-subscription.ts'

const UNAVAILABLE = new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'a service is unreachable; try again', { retryAfter: 1 })

let link: RevocationSubscription | undefined
afterEach(() => link?.stop())

/**
 * Subscribes to an auth service whose revocation stream stays open until `end` closes it. While
 * `isUnavailable` is true, each call fails.
 */
function startSubscription({ warnAfterMs }: { warnAfterMs: number }) {
  const lines: { level: number; msg: string }[] = []
  const state = { isUnavailable: false, streams: 0, failed: 0, forgotten: 0 }
  let end = () => {}
  const fail = () => {
    state.failed++
    throw UNAVAILABLE
  }
  link = subscribeToRevocations({
    accessList: { registerResources: async () => (state.isUnavailable ? fail() : { resources: [] }) },
    apiKeys: {
      async *watchRevocations(_request, { signal }) {
        if (state.isUnavailable) fail()
        state.streams++
        const ended = new Promise<void>((resolve) => {
          end = resolve
          signal?.addEventListener('abort', () => resolve())
        })
        yield { apiKeyIds: [] }
        await ended
        throw UNAVAILABLE
      },
    },
    keys: { check: () => Promise.reject(UNAVAILABLE), forget: () => {}, clear: () => state.forgotten++ },
    routes: [],
    log: pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }),
    redis: undefined,
    warnAfterMs,
  })
  return { state, end: () => end(), lines, warnings: () => lines.filter(({ level }) => level >= 40) }
}

test('a stream that reconnects at once logs no warning and clears the key cache', async () => {
  const { state, end, warnings } = startSubscription({ warnAfterMs: 60_000 })
  for (let stream = 1; stream <= 3; stream++) {
    await waitFor(async () => state.streams === stream, { describe: `stream ${stream}` })
    end()
  }
  await waitFor(async () => state.streams === 4, { describe: 'the last stream' })
  expect(state.forgotten).toBeGreaterThanOrEqual(4)
  expect(warnings()).toEqual([])
})

test('an outage of auth logs one warning, and one line when it ends', async () => {
  const { state, end, lines, warnings } = startSubscription({ warnAfterMs: 150 })
  await waitFor(async () => state.streams === 1, { describe: 'the first stream' })
  state.isUnavailable = true
  end()
  await waitFor(async () => warnings().length > 0, { describe: 'a warning' })
  const { failed } = state
  await waitFor(async () => state.failed >= failed + 2, { describe: 'more attempts' })
  expect(warnings()).toMatchObject([{ level: 40, msg: expect.stringContaining('revoked API keys') }])
  state.isUnavailable = false
  await waitFor(async () => state.streams === 2, { describe: 'the new stream' })
  await waitFor(async () => lines.some(({ level, msg }) => level === 30 && msg.includes('revoked API keys')), {
    describe: 'the log line about the end of the outage',
  })
  expect(warnings()).toHaveLength(1)
})
