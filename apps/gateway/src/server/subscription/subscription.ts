import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '@vitascope/concurrency'
import { type Call, serviceCall } from '@vitascope/grpc'
import type { Logger } from '@vitascope/telemetry'

/** A subscription to a stream of changes. It reconnects until it is stopped. */
export interface Subscription {
  stop(): Promise<void>
}

export interface SubscriptionOptions {
  /** What the stream contains, for logs: `revoked API keys`. */
  topic: string
  /** Reads the stream until it ends. It calls `onMessage` for each message. */
  read(call: Call, onMessage: () => void): Promise<void>
  /** Called when the stream has ended or failed, because changes may be missed from then on. */
  onEnd(): void
  log: Logger
  /** How long the stream may be interrupted before a warning is logged, in milliseconds. */
  warnAfterMs?: number
}

const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 2_000
/**
 * Services close each connection after two minutes, and a rolling update takes seconds. Shorter
 * interruptions are normal.
 */
const WARN_AFTER_MS = 15_000

export function subscribe({ topic, read, onEnd, log, warnAfterMs = WARN_AFTER_MS }: SubscriptionOptions): Subscription {
  const stopping = new AbortController()
  const outage = outageLog(topic, log, warnAfterMs)
  let failures = 0
  const onMessage = () => {
    failures = 0
    outage.end()
  }

  async function readForever(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await read(serviceCall('gateway', '', stopping.signal), onMessage)
        outage.begin(undefined)
      } catch (error) {
        outage.begin(error)
      }
      onEnd()
      const waitMs = backoffMs(++failures, { minMs: MIN_BACKOFF_MS, maxMs: MAX_BACKOFF_MS })
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  outage.begin(undefined)
  const running = readForever().finally(() => outage.stop())
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/**
 * Logs an outage once it has lasted for `warnAfterMs`, with its latest error, and its end if the outage
 * was logged.
 */
function outageLog(topic: string, log: Logger, warnAfterMs: number) {
  let timer: NodeJS.Timeout | undefined
  let isLogged = false
  let latestError: unknown
  const warn = () => {
    isLogged = true
    log.warn({ err: latestError }, `subscription to ${topic} failed; retrying`)
  }
  const clear = () => {
    clearTimeout(timer)
    timer = undefined
  }
  return {
    begin(error: unknown) {
      latestError = error ?? latestError
      if (!isLogged) timer ??= setTimeout(warn, warnAfterMs).unref()
    },
    end() {
      clear()
      if (isLogged) log.info(`subscription to ${topic} restored`)
      isLogged = false
      latestError = undefined
    },
    stop: clear,
  }
}
