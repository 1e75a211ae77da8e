import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type BatcherOptions, createBatcher } from './batcher.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Creates a batcher of numbers that weigh their value. The test finishes each write. The result of an item is its square. */
function createControlledBatcher(options: Omit<BatcherOptions<number, number>, 'write' | 'rejection' | 'getWeight'> = {}) {
  const batches: (readonly number[])[] = []
  const activeWrites: { resolve: () => void; reject: (error: Error) => void }[] = []
  const batcher = createBatcher<number, number>({
    ...options,
    getWeight: (item) => item,
    rejection: () => new Error('full'),
    async write(items) {
      batches.push(items)
      await new Promise<void>((resolve, reject) => activeWrites.push({ resolve, reject }))
      return items.map((item) => item * item)
    },
  })
  return { batcher, batches, activeWrites }
}

test('items of one event-loop turn form one batch, and each gets its own result', async () => {
  const { batcher, batches, activeWrites } = createControlledBatcher()
  const results = [1, 2, 3].map((item) => batcher.add(item))
  await nextTurn()
  expect(batches).toEqual([[1, 2, 3]])
  activeWrites[0]?.resolve()
  expect(await Promise.all(results)).toEqual([1, 4, 9])
})

test('items that arrive during a write join the next batch', async () => {
  const { batcher, batches, activeWrites } = createControlledBatcher()
  const first = batcher.add(1)
  await nextTurn()
  const later = [2, 3].map((item) => batcher.add(item))
  await nextTurn()
  expect(batches).toEqual([[1]])
  activeWrites[0]?.resolve()
  await first
  await nextTurn()
  expect(batches).toEqual([[1], [2, 3]])
  activeWrites[1]?.resolve()
  expect(await Promise.all(later)).toEqual([4, 9])
})

test('a failed write fails its own items only', async () => {
  const { batcher, activeWrites } = createControlledBatcher({ maxItems: 1 })
  const [failed, written] = [batcher.add(1), batcher.add(2)]
  await nextTurn()
  activeWrites[0]?.reject(new Error('away'))
  await expect(failed).rejects.toThrow('away')
  await nextTurn()
  activeWrites[1]?.resolve()
  expect(await written).toBe(4)
})

test('an item is rejected at once while the queue is full, and accepted after the next write has started', async () => {
  const { batcher, batches, activeWrites } = createControlledBatcher({ maxQueued: 10 })
  const first = batcher.add(10)
  await expect(batcher.add(1)).rejects.toThrow('full')
  expect(() => batcher.requireSpace(1)).toThrow('full')
  await nextTurn()
  expect(batcher.queuedWeight()).toBe(0)
  const second = batcher.add(10)
  await expect(batcher.add(1)).rejects.toThrow('full')
  activeWrites[0]?.resolve()
  await first
  await nextTurn()
  activeWrites[1]?.resolve()
  await second
  expect(batches).toEqual([[10], [10]])
})

test('flush waits for all added items, and does not fail when a write fails', async () => {
  const { batcher, activeWrites } = createControlledBatcher({ maxItems: 1 })
  const adds = Promise.allSettled([batcher.add(1), batcher.add(2)])
  let isFlushed = false
  const flushed = batcher.flush().then(() => (isFlushed = true))
  await nextTurn()
  activeWrites[0]?.reject(new Error('away'))
  await nextTurn()
  expect(isFlushed).toBe(false)
  activeWrites[1]?.resolve()
  await flushed
  expect((await adds).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('each accepted item is written once, in order and within the bounds, even when writes fail', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), item: fc.integer({ min: 1, max: 8 }) }) },
    fc.record({ kind: fc.constant('finish' as const), index: fc.nat(3), fails: fc.boolean() }),
    fc.record({ kind: fc.constant('turn' as const) }),
  )
  const bounds = fc.record({
    concurrency: fc.integer({ min: 1, max: 3 }),
    maxItems: fc.integer({ min: 1, max: 4 }),
    maxWeight: fc.integer({ min: 1, max: 12 }),
    maxQueued: fc.integer({ min: 8, max: 30 }),
  })
  await fc.assert(
    fc.asyncProperty(bounds, fc.array(step, { maxLength: 60 }), async (bounds, steps) => {
      const { batcher, batches, activeWrites } = createControlledBatcher(bounds)
      const accepted: number[] = []
      const adds: Promise<void>[] = []
      for (const action of steps) {
        if (action.kind === 'turn') await nextTurn()
        if (action.kind === 'add') {
          if (batcher.queuedWeight() + action.item <= bounds.maxQueued) accepted.push(action.item)
          adds.push(
            batcher.add(action.item).then(
              (result) => expect(result).toBe(action.item ** 2),
              (error: Error) => expect(['away', 'full']).toContain(error.message),
            ),
          )
        }
        if (action.kind === 'finish' && activeWrites.length > 0) {
          const [write] = activeWrites.splice(action.index % activeWrites.length, 1)
          if (action.fails) write?.reject(new Error('away'))
          else write?.resolve()
        }
        expect(batcher.queuedWeight()).toBeLessThanOrEqual(bounds.maxQueued)
        expect(activeWrites.length).toBeLessThanOrEqual(bounds.concurrency)
      }
      let isFlushed = false
      const flushed = batcher.flush().then(() => (isFlushed = true))
      while (!isFlushed) {
        for (const { resolve } of activeWrites.splice(0)) resolve()
        await nextTurn()
      }
      await Promise.all([flushed, ...adds])
      expect(batches.flat()).toEqual(accepted)
      for (const batch of batches) {
        expect(batch.length).toBeLessThanOrEqual(bounds.maxItems)
        if (batch.length > 1) expect(batch.reduce((sum, item) => sum + item, 0)).toBeLessThanOrEqual(bounds.maxWeight)
      }
    }),
    { numRuns: 200 },
  )
})
