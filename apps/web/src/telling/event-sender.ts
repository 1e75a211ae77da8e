import { leftBehind, queueEvents } from './event-queue.ts'
import type { ViewEvent } from './view-event.ts'

const address = '/v2/analytics/events'
const prefix = 'vitascope:events:'
/** Between two tries while the server is away, in milliseconds; each is twice the one before. */
const firstPause = 2_000
const longestPause = 60_000
const patience = 15_000

/** Takes events and does not rest until the server has them, or says that it will never take them. */
export interface EventSender {
  send(event: ViewEvent): void
  /** The page may be gone in a moment: what waits goes out at once, and stays until it is confirmed. */
  hurry(): void
  /** No more tries by itself. */
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
    pause = Math.min(2 * pause, longestPause)
  }
  return {
    send(event) {
      queue.push(event)
      // While the server is away, only time has another try made.
      if (pause === firstPause) void flush()
    },
    hurry() {
      for (const text of queue.texts()) navigator.sendBeacon(address, text)
    },
    stop() {
      stopped = true
      window.clearTimeout(timer)
    },
  }
}

/** Undefined when they need not be sent again; else how many milliseconds the server wants to be left alone. */
async function post(events: readonly ViewEvent[]): Promise<number | undefined> {
  try {
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events),
      keepalive: true,
      signal: AbortSignal.timeout(patience),
    })
    // What is refused for itself would be refused again.
    if (answer.status < 500 && answer.status !== 429 && answer.status !== 408) return undefined
    return 1_000 * Math.min(600, Number(answer.headers.get('retry-after')) || 0)
  } catch {
    // No line, or no answer: both may be over soon.
    return 0
  }
}

/** What closed pages of this tab left behind; taking an event twice changes nothing. */
function adopt(store: Storage | undefined, take: (event: ViewEvent) => void): void {
  for (const { name, events } of leftBehind(store, prefix)) {
    for (const event of events) take(event)
    store?.removeItem(name)
  }
}

/** Frames without an origin of their own have none. */
function sessionStore(): Storage | undefined {
  try {
    return window.sessionStorage
  } catch {
    return undefined
  }
}
