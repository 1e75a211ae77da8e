import type { Transaction } from '@vitascope/postgres'

/** An item of work. */
export interface WorkItem {
  /** Purpose of the item, such as `job:12`. `cancel` ends all items of a key. */
  key: string
  kind: string
  /**
   * Owner of the item. Groups share the work of one kind and priority by the sum of `cost`; items of a group are
   * leased oldest first.
   */
  group: string
  /** Higher priorities are leased first, whatever their group. Fair sharing applies within each priority. */
  priority: number
  /** A JSON object. */
  payload: unknown
  /** Resource units that the item needs of its holder, up to 2^31 - 1. The caller defines the unit. Default: 0. */
  weight?: number
  /** Planned work, an integer of at least 1. The caller defines the unit. Default: 1. */
  cost?: number
}

/** Identifies one lease of one item. Each lease of any item has a different fence; later leases have higher ones. */
export interface Lease {
  itemId: string
  /** 1 to 2^53 - 1. */
  fence: number
}

/** A leased item. */
export interface LeasedItem extends Lease {
  key: string
  kind: string
  group: string
  payload: unknown
  holder: string
  /** Trace of the work of the key (W3C `traceparent`). */
  traceparent: string | undefined
}

/** The fields of an item that do not depend on its holder. */
export type QueueItem = Pick<LeasedItem, 'itemId' | 'key' | 'kind' | 'payload'>

/** A request for an item. */
export interface LeaseRequest {
  kinds: readonly string[]
  /** Name of the holder of the lease. */
  holder: string
  /** Duration of the lease from now, and from each extension, by the clock of the database. */
  leaseMs: number
  /**
   * Idempotency key of this request. Use a new one after each response. If a response is lost, a request with the
   * same id returns the item that was leased to it; otherwise the item would stay leased until the lease expires.
   */
  requestId?: string
  /** Lease only this item. */
  itemId?: string
  /** Lease only items of this key. Those of one group and priority are leased in the order in which they were sent. */
  key?: string
  /**
   * Skip items with a larger weight. Default: no limit. If the first item has been skipped for 30 s by any workers,
   * no other item with a weight is leased before it. Running work then ends and frees enough resources.
   */
  capacity?: number
  /** Skip items of a lower priority. Default: none. */
  minPriority?: number
  /** Skip items below this priority while an item of this priority or a higher one is due in any of these kinds. */
  yieldTo?: { priority: number; kinds: readonly string[] }
  /** Time to wait for an item, in ms. 0: return at once. */
  waitMs?: number
}

/** Numbers of waiting and leased items of one kind, and the sum of their costs. */
export interface QueueDepth {
  kind: string
  waiting: number
  leased: number
  cost: number
}

/**
 * A work queue in PostgreSQL with fenced leases.
 *
 * Methods that change an item run in the transaction of their cause, so that the item and its related rows change
 * atomically. A holder identifies its lease by item and fence. If that lease has ended (the item was rescued, released, completed or
 * cancelled), the method changes nothing and returns false. An expired lease stays valid until the item is rescued.
 *
 * waiting --lease--> leased --complete--> done
 *    ^                 |
 *    +--retry, release, rescue--+          cancel: from any state to no row
 *
 * If the caller also locks a row of its own, it must lock that row before the call, so that all transactions take
 * both locks in the same order.
 */
export interface Queue {
  /** Adds an item after the other items of its group. Returns its id. */
  send(tx: Transaction, item: WorkItem): Promise<string>
  /**
   * Leases the next item. Waits up to `waitMs` for one. If this request id already holds an item, returns that item
   * unchanged.
   */
  lease(request: LeaseRequest, signal: AbortSignal): Promise<LeasedItem | undefined>
  /**
   * Renews a lease for its original duration. In a transaction it also fences the other writes of that transaction:
   * no other holder can lease the item until the commit.
   */
  extend(lease: Lease, tx?: Transaction): Promise<boolean>
  /** Ends an item permanently. */
  complete(tx: Transaction, lease: Lease): Promise<boolean>
  /** Returns whether this lease completed the item, so that its holder can check after a lost response. */
  isCompletedBy(tx: Transaction, lease: Lease): Promise<boolean>
  /** Returns an item to the queue for another attempt after a delay. */
  retry(tx: Transaction, lease: Lease, delayMs: number): Promise<boolean>
  /** Returns an unfinished item to the queue at once. */
  release(tx: Transaction, lease: Lease): Promise<boolean>
  /** Returns an item to the queue after a delay, if its lease has expired. */
  rescue(tx: Transaction, lease: Lease, delayMs: number): Promise<boolean>
  /**
   * Adds `by` to the priority of the items of a key whose priority is below `below`. They are ordered by age among
   * the waiting items of their group. Returns the number of raised items.
   */
  raise(tx: Transaction, key: string, change: { below: number; by: number }): Promise<number>
  /** Deletes all items of a key, including leased and done ones. Returns their number. */
  cancel(tx: Transaction, key: string): Promise<number>
  /** Returns an item, whatever its holder. Undefined if it was cancelled, or deleted by `sweep`. */
  find(itemId: string): Promise<QueueItem | undefined>
  /** Returns expired leases, oldest first, as candidates for `rescue`. */
  expired(limit: number): Promise<LeasedItem[]>
  /** Returns the item that is leased to a request id of a holder. */
  leasedByRequest(holder: string, requestId: string): Promise<LeasedItem | undefined>
  /** Returns the items that these holders have leased. */
  findLeasedBy(holders: readonly string[]): Promise<LeasedItem[]>
  /** Returns the number and the cost of waiting and leased items of each kind. */
  depth(): Promise<QueueDepth[]>
  /** Deletes up to `limit` items that were done at least a day ago. Returns their number. */
  sweep(limit: number): Promise<number>
}
