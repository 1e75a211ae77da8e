/**
 * The state machine that decides when the requests of one playback may be sent.
 *
 * - `playing`: requests are sent immediately.
 * - `recovering`: a request failed because of an outage. This request and all later ones wait. A
 *   probe is sent after 1 s, then after 1.5 s, 2.25 s and 3 s, then every 3 s; immediately on
 *   `retry()`, but never within 1 s of the last probe. A probe that fails with `Retry-After` delays
 *   the next probe, and a probe that hangs does not. After a probe that succeeds, the request that
 *   has waited longest is sent alone:
 *     - it succeeds, or it is aborted before it is sent and no other request waits: the state is
 *       `playing`, and all other requests are sent;
 *     - it fails: the probes and the growth of the delays continue.
 *
 * The module does not depend on hls.js or on the page. `recovering-loader.ts` and
 * `browser-playback.ts` use it for their requests.
 */
export interface ConnectionRecovery {
  readonly isRecovering: boolean
  /** Number of recoveries that have ended with the state `playing`. */
  readonly endedRecoveries: number
  /**
   * Resolves when a request may be sent, at once while `playing`; rejects when the signal aborts.
   * Each attempt needs its own admission.
   */
  admit(signal: AbortSignal): Promise<Admission>
  /** Sends the next probe now. */
  retry(): void
  /**
   * Resolves as soon as `endedRecoveries` is larger than the number; rejects when the signal
   * aborts.
   */
  waitForEnd(endedRecoveries: number, signal: AbortSignal): Promise<void>
  end(): void
}

/**
 * Permission to send one request. The caller reports the end of the request with one of the
 * methods.
 */
export interface Admission {
  /** Reports that the server responded. A rejection counts as a response. */
  reportSuccess(): void
  /** Reports that there was no response, or a response of a failing server (`isOutageStatus`). */
  reportFailure(): void
  /** Reports that the request was aborted, so its result does not describe the connection. */
  reportAbort(): void
}

export interface ProbeResult {
  isReachable: boolean
  /** Delay from `Retry-After`. It is 0 without that header. */
  retryAfterMs: number
}

export interface RecoveryOptions {
  /** Sends one small request to the media server. The response must not come from a cache. */
  probe: (signal: AbortSignal) => Promise<ProbeResult>
  /** Called at each change of `isRecovering`. */
  onChange: (isRecovering: boolean) => void
}

const MIN_DELAY_MS = 1_000
const MAX_DELAY_MS = 3_000
const DELAY_FACTOR = 1.5
/** Upper bound of a `Retry-After` delay. */
const MAX_RETRY_AFTER_MS = 60_000
const PROBE_TIMEOUT_MS = 10_000
/** If an outage begins within this time after the previous one, the delays continue from there. */
const DELAY_RESET_MS = 10_000

/**
 * Returns whether a status means a failing or overloaded server. 0 means no response. All other
 * statuses are decisions of the server about the request.
 */
export function isOutageStatus(status: number): boolean {
  return status === 0 || status === 408 || status === 425 || status === 429 || status >= 500
}

export function createConnectionRecovery({ probe, onChange }: RecoveryOptions): ConnectionRecovery {
  const waitingRequests: (() => void)[] = []
  const recoveryEnds = new EventTarget()
  let endedRecoveries = 0
  const end = new AbortController()
  let isRecovering = false
  /** If true, a trial request is running. Only one trial request runs at a time. */
  let isTrialActive = false
  let delayCount = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastProbeAt = Number.NEGATIVE_INFINITY
  let recoveredAt = Number.NEGATIVE_INFINITY
  let probes = new AbortController()

  const setRecovering = (next: boolean) => {
    if (isRecovering === next) return
    isRecovering = next
    onChange(next)
  }
  const scheduleProbe = (delayMs: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => void sendProbe(), delayMs)
  }
  const computeNextDelay = () => {
    const delay = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * DELAY_FACTOR ** delayCount++)
    // Random jitter spreads the requests of many viewers after the same outage.
    return Math.max(MIN_DELAY_MS, delay * (0.8 + 0.2 * Math.random()))
  }
  const sendProbe = async () => {
    const { signal } = probes
    lastProbeAt = readClock()
    // A probe that hangs on a dead connection must not delay the next one, which opens a new
    // connection.
    scheduleProbe(computeNextDelay())
    const result = await probe(AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])).catch(() => unreachableResult)
    if (signal.aborted) return
    if (result.isReachable) sendTrial()
    else if (result.retryAfterMs > 0) scheduleProbe(Math.max(MIN_DELAY_MS, Math.min(MAX_RETRY_AFTER_MS, result.retryAfterMs)))
  }
  const stopProbes = () => {
    clearTimeout(timer)
    probes.abort()
    probes = new AbortController()
  }
  const sendTrial = () => {
    stopProbes()
    const sendRequest = waitingRequests.shift()
    if (!sendRequest) return onRecovered()
    isTrialActive = true
    sendRequest()
  }
  const onRecovered = () => {
    stopProbes()
    isTrialActive = false
    recoveredAt = readClock()
    setRecovering(false)
    for (const send of waitingRequests.splice(0)) send()
    endedRecoveries++
    recoveryEnds.dispatchEvent(new Event('end'))
  }
  const onOutage = () => {
    if (!isRecovering && readClock() - recoveredAt > DELAY_RESET_MS) delayCount = 0
    setRecovering(true)
    scheduleProbe(computeNextDelay())
  }
  const createAdmission = (isTrial: boolean): Admission => ({
    reportSuccess() {
      if (isTrial) onRecovered()
    },
    reportFailure() {
      if (end.signal.aborted || (isRecovering && !isTrial)) return
      isTrialActive = false
      onOutage()
    },
    reportAbort() {
      if (isTrial) sendTrial()
    },
  })

  return {
    get isRecovering() {
      return isRecovering
    },
    get endedRecoveries() {
      return endedRecoveries
    },
    admit(signal) {
      if (signal.aborted || end.signal.aborted) return Promise.reject(createAbortError())
      if (!isRecovering) return Promise.resolve(createAdmission(false))
      return new Promise((resolve, reject) => {
        const send = () => {
          signal.removeEventListener('abort', abort)
          end.signal.removeEventListener('abort', abort)
          resolve(createAdmission(isRecovering))
        }
        const abort = () => {
          const index = waitingRequests.indexOf(send)
          if (index >= 0) waitingRequests.splice(index, 1)
          reject(createAbortError())
        }
        signal.addEventListener('abort', abort, { once: true })
        end.signal.addEventListener('abort', abort, { once: true })
        waitingRequests.push(send)
      })
    },
    retry() {
      if (isRecovering && !isTrialActive) scheduleProbe(Math.max(0, lastProbeAt + MIN_DELAY_MS - readClock()))
    },
    waitForEnd(count, signal) {
      if (signal.aborted || end.signal.aborted) return Promise.reject(createAbortError())
      if (endedRecoveries > count) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const stop = new AbortController()
        const stopBefore = (callback: () => void) => () => {
          stop.abort()
          callback()
        }
        const fail = stopBefore(() => reject(createAbortError()))
        recoveryEnds.addEventListener('end', stopBefore(resolve), { signal: stop.signal })
        for (const abortSignal of [signal, end.signal]) abortSignal.addEventListener('abort', fail, { signal: stop.signal })
      })
    },
    end() {
      end.abort()
      stopProbes()
    },
  }
}

const unreachableResult: ProbeResult = { isReachable: false, retryAfterMs: 0 }

/** Probes by one GET request. Every response that is not an outage counts as reachable. */
export async function probeAddress(address: string, signal: AbortSignal): Promise<ProbeResult> {
  const response = await fetch(address, { cache: 'no-store', signal })
  // The headers are sufficient: the body of a large file is not downloaded.
  await response.body?.cancel()
  return {
    isReachable: !isOutageStatus(response.status),
    retryAfterMs: 1000 * (Number(response.headers.get('retry-after')) || 0),
  }
}

/** Retries as soon as the browser reports a network, or the page becomes visible. */
export function retryWhenOnline(recovery: ConnectionRecovery, signal: AbortSignal): void {
  window.addEventListener('online', () => recovery.retry(), { signal })
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && recovery.retry(), { signal })
}

function readClock(): number {
  return performance.now()
}

function createAbortError(): DOMException {
  return new DOMException('the request is no longer needed', 'AbortError')
}
