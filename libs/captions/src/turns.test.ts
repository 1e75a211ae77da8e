import { expect, test } from '@jest/globals'
import { createTurns } from './turns.ts'

/** Turns of work that ends when the test says so. */
function held() {
  const inTurn = createTurns({ atOnce: 2, waiting: 6, waitingEach: 3 })
  const running: { name: string; end: () => void }[] = []
  const work = (name: string, signal?: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const run = () => {
      running.push({ name, end: resolve })
      return promise
    }
    return inTurn(name.charAt(0), run, signal)
  }
  const end = async (name: string) => {
    const index = running.findIndex((one) => one.name === name)
    for (const one of running.splice(index, 1)) one.end()
    await new Promise(setImmediate)
  }
  return { work, end, names: () => running.map(({ name }) => name) }
}

test('one of an organisation runs at a time, so that others find a place', async () => {
  const { work, end, names } = held()
  const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => work(name))
  await new Promise(setImmediate)
  expect(names()).toEqual(['a1', 'b1'])
  await end('b1')
  expect(names()).toEqual(['a1', 'c1'])
  await end('a1')
  expect(names()).toEqual(['c1', 'a2'])
  for (const name of ['c1', 'a2', 'b2', 'a3']) await end(name)
  expect(names()).toEqual([])
  await Promise.all(all)
})

test('only so many wait, and only so many of one organisation', async () => {
  const { work, end } = held()
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => work(name))
  await expect(work('a5')).rejects.toMatchObject({ kind: 'unavailable', reason: 'CAPTIONS_BUSY' })
  all.push(work('d1'))
  await expect(work('e1')).rejects.toMatchObject({ reason: 'CAPTIONS_BUSY' })
  for (const name of ['a1', 'b1', 'a2', 'b2', 'a3', 'c1', 'd1', 'a4']) await end(name)
  await Promise.all(all)
})

test('who goes away leaves the queue, and a failure frees its place', async () => {
  const { work, end, names } = held()
  const leaving = new AbortController()
  const [first, second] = [work('a1'), work('a2', leaving.signal)]
  leaving.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
  const third = work('a3')
  await end('a1')
  expect(names()).toEqual(['a3'])
  await end('a3')
  await Promise.all([first, third])
  const inTurn = createTurns({ atOnce: 1, waiting: 0, waitingEach: 0 })
  for (let tries = 0; tries < 2; tries++) await expect(inTurn('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
})
