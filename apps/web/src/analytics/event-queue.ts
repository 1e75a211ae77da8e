import { mergeEvents, type ViewEvent } from './view-event.ts'

/** Events that the server has not confirmed yet, in the order of `push`. */
export interface EventQueue {
  readonly length: number
  push(event: ViewEvent): void
  /** Returns the oldest events, at most as many as one request can contain. */
  nextBatch(): ViewEvent[]
  /** Removes events that the server has stored, or that it will never accept. */
  remove(events: readonly ViewEvent[]): void
  /** Returns all events of the queue as JSON texts, each within the size limit of a beacon. */
  toBeaconTexts(): string[]
}

/** Maximum number of queued events. If the queue is longer, two of its oldest events are merged. */
export const MAX_QUEUED = 200
const MAX_BATCH = 25
/** Bytes. Browsers limit beacons to 64 KiB. */
const MAX_BYTES = 60_000

/** Storage that survives a page change within one tab; undefined if the browser provides none. */
export type EventStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined

/**
 * Returns a queue that is also written to the store under `name`. If a page is closed during an
 * outage, the next page sends its events.
 */
export function createEventQueue(store: EventStore, name: string): EventQueue {
  let queuedEvents: ViewEvent[] = []
  const save = () => {
    try {
      if (queuedEvents.length === 0) store?.removeItem(name)
      else store?.setItem(name, JSON.stringify(queuedEvents))
    } catch {
      // The store is full. The events stay in memory only, as without a store.
    }
  }
  const takeBatch = (events: readonly ViewEvent[]) => {
    const batch: ViewEvent[] = []
    let bytes = 2
    for (const event of events.slice(0, MAX_BATCH)) {
      bytes += new TextEncoder().encode(JSON.stringify(event)).length + 1
      if (bytes > MAX_BYTES && batch.length > 0) break
      batch.push(event)
    }
    return batch
  }
  return {
    get length() {
      return queuedEvents.length
    },
    push(event) {
      queuedEvents.push(event)
      if (queuedEvents.length > MAX_QUEUED) queuedEvents = mergeOldestEvents(queuedEvents)
      save()
    },
    nextBatch: () => takeBatch(queuedEvents),
    remove(events) {
      const removedEvents = new Set(events)
      queuedEvents = queuedEvents.filter((event) => !removedEvents.has(event))
      save()
    },
    toBeaconTexts() {
      const texts: string[] = []
      for (let rest = queuedEvents; rest.length > 0; ) {
        const batch = takeBatch(rest)
        texts.push(JSON.stringify(batch))
        rest = rest.slice(batch.length)
      }
      return texts
    },
  }
}

/**
 * Shortens a queue by one event: merges the two oldest adjacent `progress` events of one view. If
 * no such events exist, it removes the oldest event.
 */
function mergeOldestEvents(events: readonly ViewEvent[]): ViewEvent[] {
  const isProgress = (event: ViewEvent | undefined) => event?.type === 'progress'
  const index = events.findIndex((event, n) => isProgress(event) && isProgress(events[n + 1]) && event.view_id === events[n + 1]?.view_id)
  const [earlier, later] = [events[index], events[index + 1]]
  if (!earlier || !later) return events.slice(1)
  return events.toSpliced(index, 2, mergeEvents(earlier, later))
}

/** Returns the events that earlier pages left in the store. */
export function findStoredQueues(store: Storage | undefined, prefix: string): { name: string; events: ViewEvent[] }[] {
  if (!store) return []
  const names = Array.from({ length: store.length }, (_, n) => store.key(n) ?? '').filter((name) => name.startsWith(prefix))
  return names.map((name) => ({ name, events: readEvents(store.getItem(name)) }))
}

/** Parses a stored queue. Returns an empty list if the text is not a queue. */
function readEvents(text: string | null): ViewEvent[] {
  try {
    const events: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(events) ? events : []
  } catch {
    return []
  }
}
