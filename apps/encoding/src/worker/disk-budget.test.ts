import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from '@jest/globals'
import type { WorkerConfig } from './config.ts'
import { createDiskBudget, type ScratchNeeds, scratchSize } from './disk-budget.ts'

const GIB = 2 ** 30
const source = (object: string, gib: number) => ({ object, bytes: gib * GIB }) as NonNullable<ScratchNeeds['source']>

/**
 * A disk budget of 20 GiB that receives the calls in order. `events` records which tasks wait and
 * which have their reservation.
 */
function startBudget(measure = async () => 20 * GIB) {
  const budget = createDiskBudget(measure)
  const events: string[] = []
  const take = (name: string, gib: number, more: { reads?: ScratchNeeds['source']; signal?: AbortSignal; onWait?: () => void } = {}) => {
    const needs = { bytes: gib * GIB, ...(more.reads && { source: more.reads }) }
    const onWait = async () => {
      events.push(`${name} waits`)
      more.onWait?.()
    }
    const taken = budget.reserve(needs, onWait, more.signal ?? new AbortController().signal)
    taken.then(
      () => events.push(`${name} is reserved`),
      () => events.push(`${name} is rejected`),
    )
    return taken
  }
  return { budget, events, take }
}

test('a request without free space waits for a release, in order', async () => {
  const { events, take } = startBudget()
  const release = await take('first', 12)
  const second = take('second', 10)
  const third = take('third', 1)
  await new Promise(setImmediate)
  expect(events).toEqual(['first is reserved', 'third waits', 'second waits'])
  release()
  await Promise.all([second, third])
  expect(events.slice(3)).toEqual(['second is reserved', 'third is reserved'])
})

test('a double release counts once', async () => {
  const { take } = startBudget()
  const release = await take('first', 12)
  release()
  await take('second', 12)
  release()
  const ending = new AbortController()
  const third = take('third', 12, { signal: ending.signal })
  ending.abort(new Error('stopped'))
  await expect(third).rejects.toThrow('stopped')
})

test('a source counts once while it has a user', async () => {
  const { budget, events, take } = startBudget()
  const film = source('film', 15)
  const picture = await take('picture', 2, { reads: film })
  const shelved = budget.holdSource(film)
  const sound = await take('sound', 2, { reads: film })
  const other = take('other', 0, { reads: source('other', 15) })
  picture()
  sound()
  await new Promise(setImmediate)
  expect(events.at(-1)).toBe('other waits')
  shelved()
  await other
})

test('two tasks that each hold a source and request another do not deadlock', async () => {
  const { budget, take } = startBudget()
  const [one, two] = [source('one', 10), source('two', 10)]
  const tasks = [await take('a', 0, { reads: one }), await take('b', 0, { reads: two })]
  const kept = [budget.holdSource(one), budget.holdSource(two)]
  for (const release of tasks) release()
  const next = [take('a', 5, { reads: one, onWait: () => kept[0]?.() }), take('b', 5, { reads: two, onWait: () => kept[1]?.() })]
  const first = await next[0]
  first?.()
  await next[1]
})

test('a request over the whole budget is rejected, and those behind it continue', async () => {
  const { take } = startBudget()
  const release = await take('first', 12)
  await expect(take('large', 3, { reads: source('film', 20) })).rejects.toThrow(
    'a task needs 23.0 GiB of scratch space, but this worker has 20.0 GiB: raise VITASCOPE_SCRATCH_BYTES (worker.scratch.size of the chart)',
  )
  await take('second', 8)
  release()
})

test('a cancelled request is skipped, and the queue keeps its order', async () => {
  const { events, take } = startBudget()
  const release = await take('first', 12)
  const second = take('second', 10)
  const ending = new AbortController()
  const gone = take('gone', 1, { signal: ending.signal })
  const last = take('last', 1)
  ending.abort(new Error('lost'))
  await expect(gone).rejects.toThrow('lost')
  await new Promise(setImmediate)
  expect(events).not.toContain('last is reserved')
  release()
  await Promise.all([second, last])
  expect(events.slice(-2)).toEqual(['second is reserved', 'last is reserved'])
})

test('a rejected size fits when the disk has more free space, also with other reservations', async () => {
  let size = 1
  const { take } = startBudget(async () => size * GIB)
  await expect(take('early', 2)).rejects.toThrow('has 1.0 GiB')
  size = 3
  await take('late', 2)
  size = 8
  await take('beside it', 6)
})

test('the free space of an empty folder is measured again', async () => {
  let size = 3
  const { take } = startBudget(async () => size * GIB)
  const release = await take('early', 3)
  release()
  size = 1
  await expect(take('late', 2)).rejects.toThrow('has 1.0 GiB')
})

test('the budget is the setting bounded by free space; on the disk of the objects only the setting applies', async () => {
  const folder = tmpdir()
  const size = (more: Partial<WorkerConfig>) => scratchSize({ scratchDir: folder, objects: { s3: {} }, ...more } as WorkerConfig)
  const disk = statfsSync(folder)
  const free = disk.bavail * disk.bsize
  expect(await size({ scratchBytes: 1 })).toBe(1)
  // Other processes write to the disk too.
  expect((await size({ scratchBytes: 2 ** 49 })) / free).toBeCloseTo(1, 1)
  expect((await size({ scratchSparePercent: 90 })) / free).toBeCloseTo(0.5, 1)
  expect(await size({ objects: { folder } })).toBe(Number.POSITIVE_INFINITY)
  expect(await size({ objects: { folder }, scratchBytes: 1, scratchSparePercent: 90 })).toBe(1)
})
