import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { type Call, serviceCall } from '@vitascope/grpc'
import { createReportLane } from './report-lane.ts'

/** Reports that are read until they are let go. */
function lane(bounds = { running: 2, waiting: 3, deadlineMs: 60_000 }) {
  const { run } = createReportLane(bounds)
  const reading: string[] = []
  const goes = new Map<string, () => void>()
  const ask = (name: string, call: Call = serviceCall('test', name)) =>
    run(name.slice(0, 1), call, async () => {
      reading.push(name)
      await new Promise<void>((resolve) => goes.set(name, resolve))
      return name
    })
  const end = async (name: string) => {
    goes.get(name)?.()
    for (let turns = 0; turns < 5; turns++) await turn()
    return reading
  }
  return { ask, end, reading }
}

test('one of an organisation is read at a time, few in all, in the order in which they were asked for', async () => {
  const { ask, end, reading } = lane()
  const asked = ['a1', 'a2', 'b1', 'c1', 'a3'].map((name) => ask(name))
  await turn()
  expect(reading).toEqual(['a1', 'b1'])
  expect(await end('b1')).toEqual(['a1', 'b1', 'c1'])
  expect(await end('a1')).toEqual(['a1', 'b1', 'c1', 'a2'])
  await end('c1')
  expect(await end('a2')).toEqual(['a1', 'b1', 'c1', 'a2', 'a3'])
  await end('a3')
  expect(await Promise.all(asked)).toEqual(['a1', 'a2', 'b1', 'c1', 'a3'])
})

test('whoever has enough waiting is told so at once, and others are not', async () => {
  const { ask, end } = lane({ running: 1, waiting: 1, deadlineMs: 60_000 })
  const asked = [ask('a1'), ask('a2')]
  await expect(ask('a3')).rejects.toMatchObject({ kind: 'exhausted', reason: 'TOO_MANY_REPORTS', retryAfter: 1 })
  asked.push(ask('b1'))
  for (const name of ['a1', 'a2', 'b1']) await end(name)
  expect(await Promise.all(asked)).toEqual(['a1', 'a2', 'b1'])
})

test('who hangs up while waiting leaves the place to the next', async () => {
  const { ask, end } = lane({ running: 1, waiting: 1, deadlineMs: 60_000 })
  const first = ask('a1')
  const hangUp = new AbortController()
  const gone = ask('a2', serviceCall('test', 'r', hangUp.signal))
  hangUp.abort(new Error('hung up'))
  await expect(gone).rejects.toThrow('hung up')
  const third = ask('a3')
  expect(await end('a1')).toEqual(['a1', 'a3'])
  await end('a3')
  expect(await Promise.all([first, third])).toEqual(['a1', 'a3'])
})

test('who waits too long is told to try again, and a report that fails leaves its place', async () => {
  const { run } = createReportLane({ running: 1, waiting: 1, deadlineMs: 20 })
  let go = () => {}
  const first = run('a', serviceCall('test', 'r'), async () => {
    await new Promise<void>((resolve) => {
      go = resolve
    })
    throw new Error('it failed')
  })
  await expect(run('a', serviceCall('test', 'r'), async () => 1)).rejects.toMatchObject({ reason: 'DEADLINE_EXCEEDED' })
  go()
  await expect(first).rejects.toThrow('it failed')
  expect(await run('a', serviceCall('test', 'r'), async () => 2)).toBe(2)
})
