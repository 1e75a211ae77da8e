import { expect, test } from '@jest/globals'
import { createFairQueue, type FairQueueOptions } from './fair-queue.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Creates a queue whose tasks run until the test finishes them. The key of a task is the first letter of its name. */
function createControlledQueue(options: Omit<FairQueueOptions, 'rejection'>) {
  const queue = createFairQueue({ ...options, rejection: () => new Error('full') })
  const finishers = new Map<string, () => void>()
  const started: string[] = []
  const rejected: string[] = []
  const add = (name: string, signal?: AbortSignal) =>
    queue
      .run(
        name.charAt(0),
        () => {
          started.push(name)
          return new Promise<void>((resolve) => finishers.set(name, resolve))
        },
        signal,
      )
      .catch((error: Error) => {
        if (error.message !== 'full') throw error
        rejected.push(name)
      })
  const finish = async (name: string) => {
    const resolve = finishers.get(name)
    if (!resolve) throw new Error(`${name} does not run`)
    finishers.delete(name)
    resolve()
    await settle()
  }
  const finishAll = async () => {
    for (let [name] = finishers.keys(); name !== undefined; [name] = finishers.keys()) await finish(name)
  }
  return { queue, add, finish, finishAll, started, rejected }
}

test('tasks of one key start in the order of their arrival', async () => {
  const { add, finishAll, started } = createControlledQueue({ concurrency: 1 })
  const all = ['a1', 'a2', 'a3'].map((name) => add(name))
  await finishAll()
  await Promise.all(all)
  expect(started).toEqual(['a1', 'a2', 'a3'])
})

test('keys take turns: a key with many tasks uses one of two slots while others wait', async () => {
  const { add, finishAll, started } = createControlledQueue({ concurrency: 2, maxQueuedPerKey: 4 })
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'b3', 'c1'].map((name) => add(name))
  await finishAll()
  await Promise.all(all)
  expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'b3', 'a5', 'a6'])
})

test('at most concurrencyPerKey tasks of one key run, and free slots go to other keys', async () => {
  const { add, finish, finishAll, started } = createControlledQueue({ concurrency: 3, concurrencyPerKey: 1 })
  const all = ['a1', 'a2', 'b1', 'b2'].map((name) => add(name))
  expect(started).toEqual(['a1', 'b1'])
  await finish('b1')
  expect(started).toEqual(['a1', 'b1', 'b2'])
  await finishAll()
  await Promise.all(all)
  expect(started).toEqual(['a1', 'b1', 'b2', 'a2'])
})

test('a task is rejected at once when the queue is full', async () => {
  const { add, finishAll, rejected, started } = createControlledQueue({ concurrency: 2, maxQueued: 10, maxQueuedPerKey: 4 })
  const names = [...Array.from({ length: 50 }, (_, index) => `a${index}`), 'b1', 'b2', 'b3', 'b4', 'c1', 'c2', 'd1']
  const all = names.map((name) => add(name))
  await settle()
  expect(rejected).toEqual([...names.slice(6, 50), 'd1'])
  await finishAll()
  await Promise.all(all)
  expect(started).toHaveLength(12)
})

test('a task leaves the queue when its signal is aborted, and the next task takes its slot', async () => {
  const { add, finish, finishAll, rejected, started } = createControlledQueue({ concurrency: 1, maxQueued: 1 })
  const first = add('a1')
  const controller = new AbortController()
  const aborted = add('b1', controller.signal)
  controller.abort(new Error('client disconnected'))
  await expect(aborted).rejects.toThrow('client disconnected')
  await expect(add('b2', controller.signal)).rejects.toThrow('client disconnected')
  const last = add('c1')
  await finish('a1')
  await finishAll()
  await Promise.all([first, last])
  expect([started, rejected]).toEqual([['a1', 'c1'], []])
})

test('a task that fails releases its slot', async () => {
  const { queue } = createControlledQueue({ concurrency: 1, maxQueued: 0 })
  for (let attempt = 0; attempt < 3; attempt++) {
    await expect(queue.run('a', () => Promise.reject(new Error('out of memory')))).rejects.toThrow('out of memory')
  }
})
