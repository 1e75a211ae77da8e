import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { type ConnectionRecovery, createConnectionRecovery, isOutageStatus, type ProbeResult } from './connection-recovery.ts'

let recovery: ConnectionRecovery
let probes: number[]
let changes: boolean[]
let probeResult: () => Promise<ProbeResult>
let startedAt: number
const signal = new AbortController().signal
const unreachable: ProbeResult = { isReachable: false, retryAfterMs: 0 }
const reachable: ProbeResult = { isReachable: true, retryAfterMs: 0 }

beforeEach(() => {
  jest.useFakeTimers()
  startedAt = performance.now()
  probes = []
  changes = []
  probeResult = async () => unreachable
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

const advanceTime = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds)
/** Requests admission. `state` shows whether the request was sent or cancelled. */
const requestAdmission = (abortSignal: AbortSignal = signal) => {
  const state = { isSent: false, isCancelled: false }
  const admission = recovery.admit(abortSignal).then(
    (admission) => {
      state.isSent = true
      return admission
    },
    () => {
      state.isCancelled = true
      throw new Error('cancelled')
    },
  )
  admission.catch(() => {})
  return { state, admission }
}
const failRequest = async () => (await requestAdmission().admission).reportFailure()

test('without failures, requests are sent immediately and no probes are sent', async () => {
  ;(await requestAdmission().admission).reportSuccess()
  await advanceTime(60_000)
  expect([probes, changes]).toEqual([[], []])
})

test('during an outage, probes are sent 1 to 3 s apart and requests wait', async () => {
  await failRequest()
  const waitingRequest = requestAdmission()
  await advanceTime(60_000)
  expect(waitingRequest.state.isSent).toBe(false)
  const gaps = probes.map((at, index) => at - (probes[index - 1] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
  expect(Math.max(...gaps)).toBeLessThanOrEqual(3_000)
  expect(changes).toEqual([true])
})

test('after a successful probe one request is sent, and the others after it succeeds', async () => {
  await failRequest()
  const [first, second] = [requestAdmission(), requestAdmission()]
  probeResult = async () => reachable
  await advanceTime(1_000)
  expect([first.state.isSent, second.state.isSent, recovery.isRecovering]).toEqual([true, false, true])
  ;(await first.admission).reportSuccess()
  await second.admission
  expect(changes).toEqual([true, false])
})

test('a server that responds to probes but fails requests gets at most one request per second', async () => {
  probeResult = async () => reachable
  let sentCount = 0
  const load = async () => {
    for (;;) {
      const admission = await recovery.admit(signal)
      sentCount++
      admission.reportFailure()
    }
  }
  load().catch(() => {})
  await advanceTime(60_000)
  expect(sentCount).toBeGreaterThan(10)
  expect(sentCount + probes.length).toBeLessThanOrEqual(60)
})

test('after an aborted trial request the next request is sent, and the recovery ends when no request waits', async () => {
  await failRequest()
  const [first, second] = [requestAdmission(), requestAdmission()]
  probeResult = async () => reachable
  await advanceTime(1_000)
  ;(await first.admission).reportAbort()
  ;(await second.admission).reportAbort()
  expect(changes).toEqual([true, false])
})

test('a waiting request that is aborted is not sent', async () => {
  await failRequest()
  const abort = new AbortController()
  const waitingRequest = requestAdmission(abort.signal)
  abort.abort()
  probeResult = async () => reachable
  await advanceTime(3_000)
  expect(waitingRequest.state).toEqual({ isSent: false, isCancelled: true })
  expect(recovery.isRecovering).toBe(false)
})

test('a hanging probe does not delay the next probes', async () => {
  probeResult = () => new Promise(() => {})
  await failRequest()
  await advanceTime(9_000)
  expect(probes.length).toBeGreaterThanOrEqual(4)
})

test('Retry-After delays the next probe, and a manual retry does not wait for it', async () => {
  probeResult = async () => ({ isReachable: false, retryAfterMs: 20_000 })
  await failRequest()
  await advanceTime(19_000)
  expect(probes).toHaveLength(1)
  recovery.retry()
  await advanceTime(0)
  expect(probes).toHaveLength(2)
})

test('manual retries send at most one probe per second', async () => {
  await failRequest()
  for (let click = 0; click < 100; click++) {
    recovery.retry()
    await advanceTime(50)
  }
  expect(probes.length).toBeLessThanOrEqual(6)
})

test('an outage soon after another one continues with the longer delays', async () => {
  probeResult = async () => reachable
  for (let outage = 0; outage < 6; outage++) {
    await failRequest()
    await advanceTime(3_000)
    expect(recovery.isRecovering).toBe(false)
  }
  const outageAt = performance.now() - startedAt
  await failRequest()
  await advanceTime(3_000)
  expect((probes.at(-1) ?? 0) - outageAt).toBeGreaterThanOrEqual(2_000)
})

test('waitForEnd resolves when the recovery ends, and immediately if it has ended', async () => {
  probeResult = async () => reachable
  const recoveryCount = recovery.endedRecoveries
  let isReported = false
  void recovery.waitForEnd(recoveryCount, signal).then(() => {
    isReported = true
  })
  await failRequest()
  await advanceTime(0)
  expect(isReported).toBe(false)
  await advanceTime(1_000)
  expect(isReported).toBe(true)
  await recovery.waitForEnd(recoveryCount, signal)
  expect(recovery.endedRecoveries).toBe(recoveryCount + 1)
  await expect(recovery.waitForEnd(recoveryCount + 1, AbortSignal.abort())).rejects.toThrow('no longer needed')
})

test('end cancels waiting requests and probes', async () => {
  await failRequest()
  const waitingRequest = requestAdmission()
  recovery.end()
  await expect(waitingRequest.admission).rejects.toThrow('cancelled')
  await advanceTime(10_000)
  expect(probes).toEqual([])
})

test('no response, overload and server errors are outages, other statuses are not', () => {
  expect([0, 408, 429, 500, 502, 503, 504].every(isOutageStatus)).toBe(true)
  expect([200, 206, 304, 400, 401, 403, 404, 410].some(isOutageStatus)).toBe(false)
})
