import { mergeEvents, type ViewEvent } from './view-event.ts'

/** Events that the server has not confirmed yet, in the order of `push`. */
export interface EventQueue {
  readonly length: number
  push(event: ViewEvent): void
  /** Returns the oldest events, as many as one request can carry. */
  batch(): ViewEvent[]
  /** Removes events that the server has stored, or that it will never accept. */
  drop(events: readonly ViewEvent[]): void
  /** Returns all events of the queue as JSON texts, each within the size limit of a beacon. */
  texts(): string[]
}

/** When the queue is longer, its oldest events are merged, two of one view into one. */
export const MAX_QUEUED = 200
const MAX_BATCH = 25
/** Bytes. Browsers limit beacons to 64 KiB. */
const MAX_BYTES = 60_000

/** Storage that survives a page change within one tab; undefined if the browser provides none. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined

/**
 * Returns a queue that is also written to the store under `name`. If a page is closed during an
 * outage, the next page sends its events.
 */
export function createEventQueue(store: Store, name: string): EventQueue {
  let waiting: ViewEvent[] = []
  const save = () => {
    try {
      if (waiting.length === 0) store?.removeItem(name)
      else store?.setItem(name, JSON.stringify(waiting))
    } catch {
      // The store is full. The events stay in memory only, as without a store.
    }
  }
  const firstOf = (events: readonly ViewEvent[]) => {
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
      return waiting.length
    },
    push(event) {
      waiting.push(event)
      if (waiting.length > MAX_QUEUED) waiting = shorten(waiting)
      save()
    },
    batch: () => firstOf(waiting),
    drop(events) {
      const dropped = new Set(events)
      waiting = waiting.filter((event) => !dropped.has(event))
      save()
    },
    texts() {
      const found: string[] = []
      for (let rest = waiting; rest.length > 0; ) {
        const batch = firstOf(rest)
        found.push(JSON.stringify(batch))
        rest = rest.slice(batch.length)
      }
      return found
    },
  }
}

/**
 * Returns one event less: merges the two oldest adjacent `progress` events of one view. If there
 * are none, it removes the oldest event.
 */
function shorten(waiting: readonly ViewEvent[]): ViewEvent[] {
  const isProgress = (event: ViewEvent | undefined) => event?.type === 'progress'
  const index = waiting.findIndex(
    (event, n) => isProgress(event) && isProgress(waiting[n + 1]) && event.view_id === waiting[n + 1]?.view_id,
  )
  const [earlier, later] = [waiting[index], waiting[index + 1]]
  if (!earlier || !later) return waiting.slice(1)
  return waiting.toSpliced(index, 2, mergeEvents(earlier, later))
}

/** Returns the events that earlier pages left in the store. */
export function findStoredQueues(store: Storage | undefined, prefix: string): { name: string; events: ViewEvent[] }[] {
  if (!store) return []
  const names = Array.from({ length: store.length }, (_, n) => store.key(n) ?? '').filter((name) => name.startsWith(prefix))
  return names.map((name) => ({ name, events: readEvents(store.getItem(name)) }))
}

/** Parses a stored queue. A text that this script did not write reads as empty. */
function readEvents(text: string | null): ViewEvent[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(found) ? found : []
  } catch {
    return []
  }
}
