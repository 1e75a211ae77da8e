import { createEventQueue, findStoredQueues } from './event-queue.ts'
import type { ViewEvent } from './view-event.ts'

const EVENTS_URL = '/v2/analytics/events'
const STORE_PREFIX = 'vitascope:events:'
/**
 * First delay between two attempts during an outage, in milliseconds. Each delay is twice the
 * previous one.
 */
const MIN_RETRY_DELAY_MS = 2_000
const MAX_RETRY_DELAY_MS = 60_000
const TIMEOUT_MS = 15_000

/** Sends events, and retries until the server has stored or finally rejected them. */
export interface EventSender {
  send(event: ViewEvent): void
  /**
   * Sends all queued events at once by beacon, because the page may be closed. They stay queued
   * until the server confirms them.
   */
  sendBeacons(): void
  /** Stops the automatic retries. */
  stop(): void
}

export function createEventSender(viewId: string): EventSender {
  const store = getSessionStorage()
  const queue = createEventQueue(store, STORE_PREFIX + viewId)
  queueStoredEvents(store, (event) => queue.push(event))
  let timer: number | undefined
  let retryDelayMs = MIN_RETRY_DELAY_MS
  let isSending = false
  let isStopped = false

  const flush = async () => {
    if (isSending || queue.length === 0) return
    window.clearTimeout(timer)
    isSending = true
    const batch = queue.nextBatch()
    const delayMs = await postEvents(batch)
    isSending = false
    if (delayMs === undefined) {
      queue.remove(batch)
      retryDelayMs = MIN_RETRY_DELAY_MS
      return void flush()
    }
    if (isStopped) return
    timer = window.setTimeout(() => void flush(), Math.max(delayMs, retryDelayMs * (0.5 + Math.random() / 2)))
    retryDelayMs = Math.min(2 * retryDelayMs, MAX_RETRY_DELAY_MS)
  }
  return {
    send(event) {
      queue.push(event)
      // During an outage, only the timer starts a new attempt.
      if (retryDelayMs === MIN_RETRY_DELAY_MS) void flush()
    },
    sendBeacons() {
      for (const text of queue.toBeaconTexts()) navigator.sendBeacon(EVENTS_URL, text)
    },
    stop() {
      isStopped = true
      window.clearTimeout(timer)
    },
  }
}

/**
 * Sends events. Returns undefined if they must not be sent again. Otherwise it returns the delay in
 * milliseconds that the server requests (0 without `Retry-After`, at most 10 minutes).
 */
async function postEvents(events: readonly ViewEvent[]): Promise<number | undefined> {
  try {
    const response = await fetch(EVENTS_URL, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events),
      keepalive: true,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    // The server rejects these events themselves. A retry would be rejected, too.
    if (response.status < 500 && response.status !== 429 && response.status !== 408) return undefined
    return 1_000 * Math.min(600, Number(response.headers.get('retry-after')) || 0)
  } catch {
    // The network failed or the request timed out. Both may be temporary.
    return 0
  }
}

/**
 * Queues the events that closed pages of this tab left in the store. The server ignores duplicates.
 */
function queueStoredEvents(store: Storage | undefined, push: (event: ViewEvent) => void): void {
  for (const { name, events } of findStoredQueues(store, STORE_PREFIX)) {
    for (const event of events) push(event)
    store?.removeItem(name)
  }
}

/**
 * Returns the session storage, or undefined in frames with an opaque origin, which have no storage.
 */
function getSessionStorage(): Storage | undefined {
  try {
    return window.sessionStorage
  } catch {
    return undefined
  }
}
