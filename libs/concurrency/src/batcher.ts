/**
 * Group commit: items that arrive while a batch is written join the next one. There is no timer, so
 * batches grow with load, and an item that arrives alone is written at once.
 */
export interface Batcher<Item, Result> {
  /**
   * Resolves with the result of the item when its batch is written. Throws the error of the write,
   * or `rejection()` at once if the queue is full.
   */
  add(item: Item): Promise<Result>
  /** Throws `rejection()` if an item of this weight does not fit into the queue now. `add` checks it too. */
  requireSpace(weight: number): void
  /** Total weight of the items whose write has not started. */
  queuedWeight(): number
  /** Resolves when every added item is written or failed. */
  flush(): Promise<void>
}

/** Each bound is unlimited by default. */
export interface BatcherOptions<Item, Result> {
  /**
   * Writes a batch, oldest item first. Returns the result of each item in this order, or an empty
   * array if items have no results. If it throws, all items of the batch fail.
   */
  write(items: readonly Item[]): Promise<readonly Result[]>
  /** Batches that are written at the same time; 1 by default. */
  concurrency?: number
  /** Maximum number of items of a batch. */
  maxItems?: number
  /** Maximum total weight of a batch. A heavier item has a batch of its own. */
  maxWeight?: number
  /** 1 by default. */
  getWeight?(item: Item): number
  /** Maximum total weight of the queued items. */
  maxQueued?: number
  /** Creates the error for an item that finds the queue full. */
  rejection?(): Error
}

interface QueuedItem<Item, Result> {
  item: Item
  weight: number
  resolve(result: Result): void
  reject(error: unknown): void
}

export function createBatcher<Item, Result = void>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const { write, concurrency = 1, maxItems = Infinity, maxWeight = Infinity, getWeight = () => 1, maxQueued = Infinity } = options
  const { rejection = () => new Error('the queue of a batcher is full') } = options
  const queue: QueuedItem<Item, Result>[] = []
  const writers = new Set<Promise<void>>()
  let queuedWeight = 0

  const requireSpace = (weight: number) => {
    if (queuedWeight + weight > maxQueued) throw rejection()
  }

  const startWriter = () => {
    if (writers.size >= concurrency) return
    // Items of the same event-loop turn join the batch.
    const writer = new Promise((resolve) => setImmediate(resolve)).then(writeQueued).finally(() => writers.delete(writer))
    writers.add(writer)
  }

  const writeQueued = async () => {
    while (queue.length > 0) {
      const batch = takeBatch()
      try {
        const results = await write(batch.map(({ item }) => item))
        // `write` returns a result for each item unless `Result` is void.
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
  }

  const takeBatch = (): QueuedItem<Item, Result>[] => {
    let count = 0
    let weight = 0
    for (const next of queue) {
      if (count > 0 && (count >= maxItems || weight + next.weight > maxWeight)) break
      weight += next.weight
      count++
    }
    queuedWeight -= weight
    return queue.splice(0, count)
  }

  return {
    async add(item) {
      const weight = getWeight(item)
      requireSpace(weight)
      queuedWeight += weight
      return await new Promise<Result>((resolve, reject) => {
        queue.push({ item, weight, resolve, reject })
        startWriter()
      })
    },
    requireSpace,
    queuedWeight: () => queuedWeight,
    async flush() {
      while (writers.size > 0) await Promise.all(writers)
    },
  }
}
