import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { type ConnectionRecovery, createConnectionRecovery, isOutageStatus, type ProbeResult } from './connection-recovery.ts'

let recovery: ConnectionRecovery
let probes: number[]
let changes: boolean[]
let answer: () => Promise<ProbeResult>
let startedAt: number
const signal = new AbortController().signal
const down: ProbeResult = { isReachable: false, retryAfterMs: 0 }
const reachable: ProbeResult = { isReachable: true, retryAfterMs: 0 }

beforeEach(() => {
  jest.useFakeTimers()
  startedAt = performance.now()
  probes = []
  changes = []
  answer = async () => down
  recovery = createConnectionRecovery({
    probe: () => {
      probes.push(performance.now() - startedAt)
      return answer()
    },
    onChange: (isRecovering) => changes.push(isRecovering),
  })
})
afterEach(() => {
  recovery.end()
  jest.useRealTimers()
})

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds)
/** Requests admission; `done` says whether the request is admitted. */
const request = (abort: AbortSignal = signal) => {
  const state = { isSent: false, isCancelled: false }
  const admission = recovery.admit(abort).then(
    (input) => {
      state.isSent = true
      return input
    },
    () => {
      state.isCancelled = true
      throw new Error('cancelled')
    },
  )
  admission.catch(() => {})
  return { state, admission }
}
const fail = async () => (await request().admission).failed()

test('while nothing fails, requests are sent at once and no probe is', async () => {
  ;(await request().admission).succeeded()
  await pass(60_000)
  expect([probes, changes]).toEqual([[], []])
})

test('during an outage probes are sent 1 to 3 s apart and requests wait', async () => {
  await fail()
  const waiting = request()
  await pass(60_000)
  expect(waiting.state.isSent).toBe(false)
  const gaps = probes.map((at, index) => at - (probes[index - 1] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
  expect(Math.max(...gaps)).toBeLessThanOrEqual(3_000)
  expect(changes).toEqual([true])
})

test('after a probe that succeeds one request is sent, and the others after its success', async () => {
  await fail()
  const [first, second] = [request(), request()]
  answer = async () => reachable
  await pass(1_000)
  expect([first.state.isSent, second.state.isSent, recovery.isRecovering]).toEqual([true, false, true])
  ;(await first.admission).succeeded()
  await second.admission
  expect(changes).toEqual([true, false])
})

test('a server that answers probes and fails requests gets at most one request a second', async () => {
  answer = async () => reachable
  let sent = 0
  const load = async () => {
    for (;;) {
      const admission = await recovery.admit(signal)
      sent++
      admission.failed()
    }
  }
  load().catch(() => {})
  await pass(60_000)
  expect(sent).toBeGreaterThan(10)
  expect(sent + probes.length).toBeLessThanOrEqual(60)
})

test('a trial that is aborted passes its turn on; the last one ends the recovery', async () => {
  await fail()
  const [first, second] = [request(), request()]
  answer = async () => reachable
  await pass(1_000)
  ;(await first.admission).aborted()
  ;(await second.admission).aborted()
  expect(changes).toEqual([true, false])
})

test('a request that is aborted while it waits is not sent', async () => {
  await fail()
  const abort = new AbortController()
  const waiting = request(abort.signal)
  abort.abort()
  answer = async () => reachable
  await pass(3_000)
  expect(waiting.state).toEqual({ isSent: false, isCancelled: true })
  expect(recovery.isRecovering).toBe(false)
})

test('a probe that hangs holds up no other one', async () => {
  answer = () => new Promise(() => {})
  await fail()
  await pass(9_000)
  expect(probes.length).toBeGreaterThanOrEqual(4)
})

test('Retry-After delays the next probe, and a retry by hand does not wait for it', async () => {
  answer = async () => ({ isReachable: false, retryAfterMs: 20_000 })
  await fail()
  await pass(19_000)
  expect(probes).toHaveLength(1)
  recovery.retry()
  await pass(0)
  expect(probes).toHaveLength(2)
})

test('however often a retry is asked for, a second passes between two probes', async () => {
  await fail()
  for (let click = 0; click < 100; click++) {
    recovery.retry()
    await pass(50)
  }
  expect(probes.length).toBeLessThanOrEqual(6)
})

test('an outage soon after another one goes on with its delays', async () => {
  answer = async () => reachable
  for (let outage = 0; outage < 6; outage++) {
    await fail()
    await pass(3_000)
    expect(recovery.isRecovering).toBe(false)
  }
  const before = performance.now() - startedAt
  await fail()
  await pass(3_000)
  expect((probes.at(-1) ?? 0) - before).toBeGreaterThanOrEqual(2_000)
})

test('the end of a recovery is reported once, also to a caller that asks after it', async () => {
  answer = async () => reachable
  const before = recovery.endedRecoveries
  let isReported = false
  void recovery.waitForEnd(before, signal).then(() => {
    isReported = true
  })
  await fail()
  await pass(0)
  expect(isReported).toBe(false)
  await pass(1_000)
  expect(isReported).toBe(true)
  await recovery.waitForEnd(before, signal)
  expect(recovery.endedRecoveries).toBe(before + 1)
  await expect(recovery.waitForEnd(before + 1, AbortSignal.abort())).rejects.toThrow('no longer needed')
})

test('the end cancels what waits', async () => {
  await fail()
  const waiting = request()
  recovery.end()
  await expect(waiting.admission).rejects.toThrow('cancelled')
  await pass(10_000)
  expect(probes).toEqual([])
})

test('no answer, overload and errors of the server are outages; decisions about the request are not', () => {
  expect([0, 408, 429, 500, 502, 503, 504].every(isOutageStatus)).toBe(true)
  expect([200, 206, 304, 400, 401, 403, 404, 410].some(isOutageStatus)).toBe(false)
})
