import { leftBehind, queueEvents } from './event-queue.ts'
import type { ViewEvent } from './view-event.ts'

const address = '/v2/analytics/events'
const prefix = 'vitascope:events:'
/**
 * First delay between two attempts during an outage, in milliseconds. Each delay is twice the
 * previous one.
 */
const firstPause = 2_000
const maxPause = 60_000
const TIMEOUT_MS = 15_000

/** Sends events, and retries until the server has stored or finally rejected them. */
export interface EventSender {
  send(event: ViewEvent): void
  /**
   * Sends all queued events at once by beacon, because the page may be closed. They stay queued
   * until the server confirms them.
   */
  flushSoon(): void
  /** Stops the automatic retries. */
  stop(): void
}

export function sendEvents(viewId: string): EventSender {
  const store = sessionStore()
  const queue = queueEvents(store, prefix + viewId)
  adopt(store, (event) => queue.push(event))
  let timer: number | undefined
  let pause = firstPause
  let underWay = false
  let stopped = false

  const flush = async () => {
    if (underWay || queue.length === 0) return
    window.clearTimeout(timer)
    underWay = true
    const batch = queue.batch()
    const waitMs = await post(batch)
    underWay = false
    if (waitMs === undefined) {
      queue.drop(batch)
      pause = firstPause
      return void flush()
    }
    if (stopped) return
    timer = window.setTimeout(() => void flush(), Math.max(waitMs, pause * (0.5 + Math.random() / 2)))
    pause = Math.min(2 * pause, maxPause)
  }
  return {
    send(event) {
      queue.push(event)
      // During an outage, only the timer starts a new attempt.
      if (pause === firstPause) void flush()
    },
    flushSoon() {
      for (const text of queue.texts()) navigator.sendBeacon(address, text)
    },
    stop() {
      stopped = true
      window.clearTimeout(timer)
    },
  }
}

/**
 * Returns undefined if the events must not be sent again, else the delay in milliseconds that the
 * server requests (0 without `Retry-After`, at most 10 minutes).
 */
async function post(events: readonly ViewEvent[]): Promise<number | undefined> {
  try {
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events),
      keepalive: true,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    // The server rejects these events themselves. A retry would be rejected, too.
    if (answer.status < 500 && answer.status !== 429 && answer.status !== 408) return undefined
    return 1_000 * Math.min(600, Number(answer.headers.get('retry-after')) || 0)
  } catch {
    // The network failed or the request timed out. Both may be temporary.
    return 0
  }
}

/**
 * Queues the events that closed pages of this tab left in the store. The server ignores duplicates.
 */
function adopt(store: Storage | undefined, take: (event: ViewEvent) => void): void {
  for (const { name, events } of leftBehind(store, prefix)) {
    for (const event of events) take(event)
    store?.removeItem(name)
  }
}

/** Returns undefined in frames with an opaque origin, which have no storage. */
function sessionStore(): Storage | undefined {
  try {
    return window.sessionStorage
  } catch {
    return undefined
  }
}
