import { merged, type ViewEvent } from './view-event.ts'

/** Events that the server has not confirmed, in their order. */
export interface EventQueue {
  readonly length: number
  push(event: ViewEvent): void
  /** The first ones, as many as a request takes. */
  batch(): ViewEvent[]
  /** They are with the server, or will never be. */
  drop(events: readonly ViewEvent[]): void
  /** Texts for the server with all that waits, each no larger than a beacon may be. */
  texts(): string[]
}

/** With more the oldest ones are merged, two of one view into one. */
export const mostWaiting = 200
const mostInBatch = 25
/** Beacons hold 64 KiB. */
const mostBytes = 60_000

/** What is kept between two pages of one tab; undefined where the browser keeps nothing. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined

/** Kept in the store under `name`, too: a page that is closed while the server is away is told of by the next one. */
export function queueEvents(store: Store, name: string): EventQueue {
  let waiting: ViewEvent[] = []
  const keep = () => {
    try {
      if (waiting.length === 0) store?.removeItem(name)
      else store?.setItem(name, JSON.stringify(waiting))
    } catch {
      // The store is full: what waits is in memory alone, as where there is no store.
    }
  }
  const firstOf = (events: readonly ViewEvent[]) => {
    const batch: ViewEvent[] = []
    let bytes = 2
    for (const event of events.slice(0, mostInBatch)) {
      bytes += new TextEncoder().encode(JSON.stringify(event)).length + 1
      if (bytes > mostBytes && batch.length > 0) break
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
      if (waiting.length > mostWaiting) waiting = shortened(waiting)
      keep()
    },
    batch: () => firstOf(waiting),
    drop(events) {
      const dropped = new Set(events)
      waiting = waiting.filter((event) => !dropped.has(event))
      keep()
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

/** One fewer: the oldest two neighbours of one view that only tell on, else without the oldest. */
function shortened(waiting: readonly ViewEvent[]): ViewEvent[] {
  const isOn = (event: ViewEvent | undefined) => event?.type === 'progress'
  const place = waiting.findIndex((event, n) => isOn(event) && isOn(waiting[n + 1]) && event.view_id === waiting[n + 1]?.view_id)
  const [earlier, later] = [waiting[place], waiting[place + 1]]
  if (!earlier || !later) return waiting.slice(1)
  return waiting.toSpliced(place, 2, merged(earlier, later))
}

/** What pages before this one left behind in the store. */
export function leftBehind(store: Storage | undefined, prefix: string): { name: string; events: ViewEvent[] }[] {
  if (!store) return []
  const names = Array.from({ length: store.length }, (_, n) => store.key(n) ?? '').filter((name) => name.startsWith(prefix))
  return names.map((name) => ({ name, events: readEvents(store.getItem(name)) }))
}

/** It was written by this script; whatever else stands there is nothing. */
function readEvents(text: string | null): ViewEvent[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(found) ? found : []
  } catch {
    return []
  }
}
