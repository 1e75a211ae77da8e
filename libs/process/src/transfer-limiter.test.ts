import { expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { createTransferLimiter, type TransferBounds } from './transfer-limiter.ts'

const BOUNDS: TransferBounds = { maxPerClient: 100, maxTotal: 100, minBytesPerSecond: 1_000, graceSeconds: 1, maxCreditSeconds: 2 }

function transfer(client = 'a', { bytes = () => 0, isWaiting = true }: { bytes?: () => number; isWaiting?: boolean } = {}) {
  const cuts: string[] = []
  return { client, bytes, isWaitingForClient: () => isWaiting, cut: (reason: string) => void cuts.push(reason), cuts }
}
/** Returns a counter that grows by `rate` bytes per second. */
const countAtRate = (rate: number) => {
  const started = performance.now()
  return () => ((performance.now() - started) / 1_000) * rate
}

test('a client below the minimum rate is aborted after the grace period; a faster one, or one that waits for the server, is not', async () => {
  const limiter = createTransferLimiter(BOUNDS)
  const [slow, fast, waitingForServer] = [
    transfer('a', { bytes: countAtRate(100) }),
    transfer('b', { bytes: countAtRate(5_000) }),
    transfer('c', { isWaiting: false }),
  ]
  const started = performance.now()
  for (const one of [slow, fast, waitingForServer]) limiter.begin(one)
  await waitFor(() => slow.cuts.length === 1)
  expect(performance.now() - started).toBeGreaterThan(900)
  expect([slow.cuts, fast.cuts, waitingForServer.cuts, limiter.size()]).toEqual([['too_slow'], [], [], 2])
})

test('a fast start earns at most the maximum credit', async () => {
  const limiter = createTransferLimiter({ ...BOUNDS, graceSeconds: 0.2, maxCreditSeconds: 0.4 })
  let bytes = 0
  const stalled = transfer('a', { bytes: () => bytes })
  limiter.begin(stalled)
  bytes = 1_000_000
  await waitFor(() => stalled.cuts.length === 1, { timeout: 3_000 })
})

test('a client with too many transfers loses its slowest one, and new ones are rejected while none is slow', async () => {
  const limiter = createTransferLimiter({ ...BOUNDS, maxPerClient: 2, graceSeconds: 60, maxCreditSeconds: 60 })
  const [slow, fast, other] = [transfer('a'), transfer('a', { bytes: countAtRate(1_000_000) }), transfer('b')]
  for (const one of [slow, fast, other]) limiter.begin(one)
  expect(() => limiter.begin(transfer('a'))).toThrow(expect.objectContaining({ kind: 'exhausted', reason: 'TOO_MANY_AT_ONCE' }))
  await waitFor(() => {
    limiter.begin(transfer('a'))
    return true
  })
  expect([slow.cuts, fast.cuts, other.cuts]).toEqual([['displaced'], [], []])
})

test('at the total limit the slowest transfer is aborted, and a new one is rejected while none is slow', async () => {
  const limiter = createTransferLimiter({ ...BOUNDS, maxTotal: 2, graceSeconds: 60, maxCreditSeconds: 60 })
  const [slow, fast] = [transfer('a'), transfer('b', { bytes: countAtRate(1_000_000) })]
  const end = [slow, fast].map((one) => limiter.begin(one))
  expect(() => limiter.begin(transfer('c'))).toThrow(expect.objectContaining({ kind: 'unavailable', reason: 'OVERLOADED' }))
  end[1]?.()
  limiter.begin(transfer('c'))
  await waitFor(() => {
    limiter.begin(transfer('d'))
    return true
  })
  expect(slow.cuts).toEqual(['displaced'])
})
