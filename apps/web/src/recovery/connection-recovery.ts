/**
 * The state machine that decides when the requests of one playback may be sent.
 *
 * - `playing`: requests are sent as they come.
 * - `recovering`: a request failed as it does in an outage. This request and all later ones wait. A probe is sent after 1 s, then after
 *   1.5 s, 2.25 s and 3 s, then every 3 s; at once on `retry()`, but never within 1 s of the last one. A probe that fails with
 *   `Retry-After` delays the next one, and a probe that hangs does not. After a probe that succeeds, the request that has waited longest
 *   is sent alone:
 *     - it succeeds, or it ends unsent and no other one waits: the state is `playing`, and all other requests are sent;
 *     - it fails: the probes and the growth of the delays continue.
 *
 * The module knows neither hls.js nor the page: `recovering-loader.ts` and `browser-playback.ts` connect it to what loads.
 */
export interface ConnectionRecovery {
  readonly isRecovering: boolean
  /** Number of recoveries that have ended with the state `playing`. */
  readonly endedRecoveries: number
  /** Resolves when a request may be sent, at once while `playing`; rejects when the signal aborts. Each attempt needs its own admission. */
  admit(signal: AbortSignal): Promise<Admission>
  /** Sends the next probe now. */
  retry(): void
  /** Resolves as soon as `endedRecoveries` is larger than the number; rejects when the signal aborts. */
  waitForEnd(endedRecoveries: number, signal: AbortSignal): Promise<void>
  end(): void
}

/** Permission to send one request. The holder reports the end of the request by one of the methods. */
export interface Admission {
  /** The server responded; a rejection counts as a response. */
  succeeded(): void
  /** The request got no response, or a response of a failing server (`isOutageStatus`). */
  failed(): void
  /** The request was aborted, so its result does not describe the connection. */
  aborted(): void
}

export interface ProbeResult {
  isReachable: boolean
  /** From `Retry-After`; 0 without it. */
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
 * Returns whether a status means a failing or overloaded server. 0 means no response. Other
 * statuses are the server's decision about the request.
 */
export function isOutageStatus(status: number): boolean {
  return status === 0 || status === 408 || status === 425 || status === 429 || status >= 500
}

export function createConnectionRecovery({ probe, onChange }: RecoveryOptions): ConnectionRecovery {
  const waiting: (() => void)[] = []
  const recoveryEnds = new EventTarget()
  let endedRecoveries = 0
  const ended = new AbortController()
  let isRecovering = false
  /** A trial request is running; there is at most one. */
  let isTrialActive = false
  let delays = 0
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
  const nextDelay = () => {
    const delay = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * DELAY_FACTOR ** delays++)
    // Random jitter spreads the requests of many viewers after the same outage.
    return Math.max(MIN_DELAY_MS, delay * (0.8 + 0.2 * Math.random()))
  }
  const sendProbe = async () => {
    const { signal } = probes
    lastProbeAt = now()
    // A probe that hangs on a dead connection must not delay the next one, which opens a new
    // connection.
    scheduleProbe(nextDelay())
    const result = await probe(AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])).catch(() => unreachable)
    if (signal.aborted) return
    if (result.isReachable) sendFirstWaiting()
    else if (result.retryAfterMs > 0) scheduleProbe(Math.max(MIN_DELAY_MS, Math.min(MAX_RETRY_AFTER_MS, result.retryAfterMs)))
  }
  const stopProbes = () => {
    clearTimeout(timer)
    probes.abort()
    probes = new AbortController()
  }
  const sendFirstWaiting = () => {
    stopProbes()
    const next = waiting.shift()
    if (!next) return onRecovered()
    isTrialActive = true
    next()
  }
  const onRecovered = () => {
    stopProbes()
    isTrialActive = false
    recoveredAt = now()
    setRecovering(false)
    for (const send of waiting.splice(0)) send()
    endedRecoveries++
    recoveryEnds.dispatchEvent(new Event('end'))
  }
  const onOutage = () => {
    if (!isRecovering && now() - recoveredAt > DELAY_RESET_MS) delays = 0
    setRecovering(true)
    scheduleProbe(nextDelay())
  }
  const admission = (isTrial: boolean): Admission => ({
    succeeded() {
      if (isTrial) onRecovered()
    },
    failed() {
      if (ended.signal.aborted || (isRecovering && !isTrial)) return
      isTrialActive = false
      onOutage()
    },
    aborted() {
      if (isTrial) sendFirstWaiting()
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
      if (signal.aborted || ended.signal.aborted) return Promise.reject(abortError())
      if (!isRecovering) return Promise.resolve(admission(false))
      return new Promise((resolve, reject) => {
        const send = () => {
          signal.removeEventListener('abort', abort)
          ended.signal.removeEventListener('abort', abort)
          resolve(admission(isRecovering))
        }
        const abort = () => {
          const at = waiting.indexOf(send)
          if (at >= 0) waiting.splice(at, 1)
          reject(abortError())
        }
        signal.addEventListener('abort', abort, { once: true })
        ended.signal.addEventListener('abort', abort, { once: true })
        waiting.push(send)
      })
    },
    retry() {
      if (isRecovering && !isTrialActive) scheduleProbe(Math.max(0, lastProbeAt + MIN_DELAY_MS - now()))
    },
    waitForEnd(count, signal) {
      if (signal.aborted || ended.signal.aborted) return Promise.reject(abortError())
      if (endedRecoveries > count) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const stop = new AbortController()
        const settle = (done: () => void) => () => {
          stop.abort()
          done()
        }
        const fail = settle(() => reject(abortError()))
        recoveryEnds.addEventListener('end', settle(resolve), { signal: stop.signal })
        for (const one of [signal, ended.signal]) one.addEventListener('abort', fail, { signal: stop.signal })
      })
    },
    end() {
      ended.abort()
      stopProbes()
    },
  }
}

const unreachable: ProbeResult = { isReachable: false, retryAfterMs: 0 }

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

function now(): number {
  return performance.now()
}

function abortError(): DOMException {
  return new DOMException('the request is no longer needed', 'AbortError')
}
