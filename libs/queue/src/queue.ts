import type { Transaction } from '@vitascope/postgres'

/** Work to be done. */
export interface WorkItem {
  /** What it is for, such as `job:12`: `cancel` ends all items of a key. */
  key: string
  kind: string
  /** Who it is for: items of the same kind and priority are shared out between groups in turn, oldest first within a group. */
  group: string
  /** Higher ones go first, whatever their group; each priority is shared out by itself. */
  priority: number
  /** A JSON object. */
  payload: unknown
  /** What it takes of whoever does it, in a unit of the caller's, up to 2^31 - 1; 0 when not given. */
  weight?: number
}

/** Names one lease of one item. Every lease, of whichever item, has another fence; a later one has a higher one. */
export interface Lease {
  itemId: string
  fence: number
}

/** An item in the hands of a holder. */
export interface LeasedItem extends Lease {
  key: string
  kind: string
  group: string
  payload: unknown
  holder: string
}

/** What an item is, apart from who holds it. */
export type FoundItem = Pick<LeasedItem, 'itemId' | 'key' | 'kind' | 'payload'>

/** Who asks for work, of which kinds. */
export interface Ask {
  kinds: readonly string[]
  /** Names who will hold the lease. */
  holder: string
  /** How long a lease lasts from here, and from each beat. Counted by the clock of the database alone. */
  leaseMs: number
  /**
   * Names this ask, and is another one after each answer. Whoever lost an answer asks again by the same name, and gets the item that the
   * lost answer leased to it: else that item would wait out its lease in nobody's hands.
   */
  ask?: string
  /** This item and no other. */
  itemId?: string
  /** Items of this key and no others: those of one group and priority in the order in which they were sent. */
  key?: string
  /**
   * Heavier items than this are left to others; everything when not given. Once the first in line was passed over for half a minute, by whomever,
   * nothing that weighs anything is given in its place: what is under way ends, and there is room for it.
   */
  room?: number
  /** Items of a lower priority than this are left alone; none when not given. */
  least?: number
  /** Items of a lower priority than this wait while one of it or of a higher one is due, of any of these kinds. */
  way?: { priority: number; kinds: readonly string[] }
  /** How long to wait for work when there is none; 0 is one look. */
  waitMs?: number
}

/** How much of a kind there is. */
export interface QueueDepth {
  kind: string
  waiting: number
  leased: number
}

/**
 * Work in PostgreSQL under fenced leases.
 *
 * What changes an item takes the transaction of its cause, so that the item and the rows it is about change together or not at all. What a
 * holder does names item and fence, and touches nothing and answers false when that lease is over: when the item was rescued, released,
 * finished or cancelled. A lease whose time has run out stays good until somebody rescues it.
 *
 *     waiting --lease--> leased --complete--> done
 *        ^                 |
 *        +--retry, release, rescue--+          cancel: from anywhere to no row
 *
 * Where a row of the caller's is locked too, lock it before the call: all transactions then take both in the same order.
 */
export interface Queue {
  /** Adds an item, in line behind those of its group; answers its id. */
  send(tx: Transaction, item: WorkItem): Promise<string>
  /** Leases the next item, waiting for one up to `waitMs`. An item that this very ask holds already is answered again, as it stands. */
  lease(ask: Ask, signal: AbortSignal): Promise<LeasedItem | undefined>
  /**
   * Makes a lease last from now on as long as it lasted at first. In a transaction it also fences what else is written there: until the
   * commit nobody can take the item.
   */
  beat(lease: Lease, tx?: Transaction): Promise<boolean>
  /** Ends an item for good. */
  complete(tx: Transaction, lease: Lease): Promise<boolean>
  /** True when it was this very lease that completed the item: its holder may ask again after a lost answer. */
  completedBy(tx: Transaction, lease: Lease): Promise<boolean>
  /** Gives an item back to be tried again, after a delay. */
  retry(tx: Transaction, lease: Lease, delayMs: number): Promise<boolean>
  /** Gives an item back unfinished, at once. */
  release(tx: Transaction, lease: Lease): Promise<boolean>
  /** Gives an item back, after a delay, if its lease has run out. */
  rescue(tx: Transaction, lease: Lease, delayMs: number): Promise<boolean>
  /** Removes all items of a key, leased and done ones too; answers how many. */
  cancel(tx: Transaction, key: string): Promise<number>
  /** What an item is, whoever holds it; undefined when it is cancelled or long done. */
  find(itemId: string): Promise<FoundItem | undefined>
  /** Leases that have run out, oldest first: candidates for `rescue`. */
  expired(limit: number): Promise<LeasedItem[]>
  /** What an ask holds, by the name that its holder gave it. */
  heldByAsk(holder: string, ask: string): Promise<LeasedItem | undefined>
  /** What these holders hold. */
  heldBy(holders: readonly string[]): Promise<LeasedItem[]>
  /** How much there is of each kind. */
  depth(): Promise<QueueDepth[]>
  /** Removes items that were done a day ago. */
  sweep(): Promise<void>
}
