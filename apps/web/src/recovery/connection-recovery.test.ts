import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { type ConnectionRecovery, createConnectionRecovery, isOutageStatus, type ProbeResult } from './connection-recovery.ts'

let recovery: ConnectionRecovery
let probes: number[]
let changes: boolean[]
let probeResult: () => Promise<ProbeResult>
let startedAt: number
const signal = new AbortController().signal
const down: ProbeResult = { isReachable: false, retryAfterMs: 0 }
const reachable: ProbeResult = { isReachable: true, retryAfterMs: 0 }

beforeEach(() => {
  jest.useFakeTimers()
  startedAt = performance.now()
  probes = []
  changes = []
  probeResult = async () => down
  recovery = createConnectionRecovery({
    probe: () => {
      probes.push(performance.now() - startedAt)
      return probeResult()
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

test('without failures, requests are sent immediately and no probes are sent', async () => {
  ;(await request().admission).succeeded()
  await pass(60_000)
  expect([probes, changes]).toEqual([[], []])
})

test('during an outage, probes are sent 1 to 3 s apart and requests wait', async () => {
  await fail()
  const waiting = request()
  await pass(60_000)
  expect(waiting.state.isSent).toBe(false)
  const gaps = probes.map((at, index) => at - (probes[index - 1] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
  expect(Math.max(...gaps)).toBeLessThanOrEqual(3_000)
  expect(changes).toEqual([true])
})

test('after a successful probe one request is sent, and the others after it succeeds', async () => {
  await fail()
  const [first, second] = [request(), request()]
  probeResult = async () => reachable
  await pass(1_000)
  expect([first.state.isSent, second.state.isSent, recovery.isRecovering]).toEqual([true, false, true])
  ;(await first.admission).succeeded()
  await second.admission
  expect(changes).toEqual([true, false])
})

test('a server that answers probes but fails requests gets at most one request per second', async () => {
  probeResult = async () => reachable
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

test('an aborted trial request passes its turn to the next one, and the last one ends the recovery', async () => {
  await fail()
  const [first, second] = [request(), request()]
  probeResult = async () => reachable
  await pass(1_000)
  ;(await first.admission).aborted()
  ;(await second.admission).aborted()
  expect(changes).toEqual([true, false])
})

test('a waiting request that is aborted is not sent', async () => {
  await fail()
  const abort = new AbortController()
  const waiting = request(abort.signal)
  abort.abort()
  probeResult = async () => reachable
  await pass(3_000)
  expect(waiting.state).toEqual({ isSent: false, isCancelled: true })
  expect(recovery.isRecovering).toBe(false)
})

test('a hanging probe does not delay the next probes', async () => {
  probeResult = () => new Promise(() => {})
  await fail()
  await pass(9_000)
  expect(probes.length).toBeGreaterThanOrEqual(4)
})

test('Retry-After delays the next probe, and a manual retry does not wait for it', async () => {
  probeResult = async () => ({ isReachable: false, retryAfterMs: 20_000 })
  await fail()
  await pass(19_000)
  expect(probes).toHaveLength(1)
  recovery.retry()
  await pass(0)
  expect(probes).toHaveLength(2)
})

test('manual retries send at most one probe per second', async () => {
  await fail()
  for (let click = 0; click < 100; click++) {
    recovery.retry()
    await pass(50)
  }
  expect(probes.length).toBeLessThanOrEqual(6)
})

test('an outage soon after another one continues with the longer delays', async () => {
  probeResult = async () => reachable
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

test('waitForEnd resolves when the recovery ends, and at once if it has ended', async () => {
  probeResult = async () => reachable
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

test('end cancels waiting requests and probes', async () => {
  await fail()
  const waiting = request()
  recovery.end()
  await expect(waiting.admission).rejects.toThrow('cancelled')
  await pass(10_000)
  expect(probes).toEqual([])
})

test('no response, overload and server errors are outages, other statuses are not', () => {
  expect([0, 408, 429, 500, 502, 503, 504].every(isOutageStatus)).toBe(true)
  expect([200, 206, 304, 400, 401, 403, 404, 410].some(isOutageStatus)).toBe(false)
})
