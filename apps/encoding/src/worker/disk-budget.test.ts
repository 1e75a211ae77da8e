import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from '@jest/globals'
import type { WorkerConfig } from './config.ts'
import { createDiskBudget, type ScratchNeeds, scratchSize } from './disk-budget.ts'

const GIB = 2 ** 30
const source = (object: string, gib: number) => ({ object, bytes: gib * GIB }) as NonNullable<ScratchNeeds['source']>

/**
 * Creates a disk budget of 20 GiB. `events` records in order which tasks wait, which have their
 * reservation, and which are rejected.
 */
function startBudget(measure = async () => 20 * GIB) {
  const budget = createDiskBudget(measure)
  const events: string[] = []
  const reserve = (
    name: string,
    gib: number,
    options: { reads?: ScratchNeeds['source']; signal?: AbortSignal; onWait?: () => void } = {},
  ) => {
    const needs = { bytes: gib * GIB, ...(options.reads && { source: options.reads }) }
    const onWait = async () => {
      events.push(`${name} waits`)
      options.onWait?.()
    }
    const reservation = budget.reserve(needs, onWait, options.signal ?? new AbortController().signal)
    reservation.then(
      () => events.push(`${name} is reserved`),
      () => events.push(`${name} is rejected`),
    )
    return reservation
  }
  return { budget, events, reserve }
}

test('a request without free space waits for a release, in order', async () => {
  const { events, reserve } = startBudget()
  const release = await reserve('first', 12)
  const second = reserve('second', 10)
  const third = reserve('third', 1)
  await new Promise(setImmediate)
  expect(events).toEqual(['first is reserved', 'third waits', 'second waits'])
  release()
  await Promise.all([second, third])
  expect(events.slice(3)).toEqual(['second is reserved', 'third is reserved'])
})

test('a double release counts once', async () => {
  const { reserve } = startBudget()
  const release = await reserve('first', 12)
  release()
  await reserve('second', 12)
  release()
  const ending = new AbortController()
  const third = reserve('third', 12, { signal: ending.signal })
  ending.abort(new Error('stopped'))
  await expect(third).rejects.toThrow('stopped')
})

test('a source counts once while it has a user', async () => {
  const { budget, events, reserve } = startBudget()
  const film = source('film', 15)
  const picture = await reserve('picture', 2, { reads: film })
  const release = budget.holdSource(film)
  const sound = await reserve('sound', 2, { reads: film })
  const otherTask = reserve('other', 0, { reads: source('other', 15) })
  picture()
  sound()
  await new Promise(setImmediate)
  expect(events.at(-1)).toBe('other waits')
  release()
  await otherTask
})

test('two tasks that each hold a source and request another do not deadlock', async () => {
  const { budget, reserve } = startBudget()
  const [one, two] = [source('one', 10), source('two', 10)]
  const tasks = [await reserve('a', 0, { reads: one }), await reserve('b', 0, { reads: two })]
  const releases = [budget.holdSource(one), budget.holdSource(two)]
  for (const release of tasks) release()
  const next = [
    reserve('a', 5, { reads: one, onWait: () => releases[0]?.() }),
    reserve('b', 5, { reads: two, onWait: () => releases[1]?.() }),
  ]
  const first = await next[0]
  first?.()
  await next[1]
})

test('a request above the total budget is rejected, and those behind it continue', async () => {
  const { reserve } = startBudget()
  const release = await reserve('first', 12)
  await expect(reserve('large', 3, { reads: source('film', 20) })).rejects.toThrow(
    'a task needs 23.0 GiB of scratch space, but this worker has 20.0 GiB: raise VITASCOPE_SCRATCH_BYTES (worker.scratch.size of the chart)',
  )
  await reserve('second', 8)
  release()
})

test('a cancelled request is skipped, and the queue keeps its order', async () => {
  const { events, reserve } = startBudget()
  const release = await reserve('first', 12)
  const second = reserve('second', 10)
  const ending = new AbortController()
  const cancelled = reserve('cancelled', 1, { signal: ending.signal })
  const last = reserve('last', 1)
  ending.abort(new Error('lost'))
  await expect(cancelled).rejects.toThrow('lost')
  await new Promise(setImmediate)
  expect(events).not.toContain('last is reserved')
  release()
  await Promise.all([second, last])
  expect(events.slice(-2)).toEqual(['second is reserved', 'last is reserved'])
})

test('a rejected size fits when the disk has more free space, also with other reservations', async () => {
  let size = 1
  const { reserve } = startBudget(async () => size * GIB)
  await expect(reserve('early', 2)).rejects.toThrow('has 1.0 GiB')
  size = 3
  await reserve('late', 2)
  size = 8
  await reserve('additional', 6)
})

test('the free space of an empty folder is measured again', async () => {
  let size = 3
  const { reserve } = startBudget(async () => size * GIB)
  const release = await reserve('early', 3)
  release()
  size = 1
  await expect(reserve('late', 2)).rejects.toThrow('has 1.0 GiB')
})

test('the budget is the setting bounded by free space; on the disk of the objects only the setting applies', async () => {
  const folder = tmpdir()
  const size = (overrides: Partial<WorkerConfig>) => scratchSize({ scratchDir: folder, objects: { s3: {} }, ...overrides } as WorkerConfig)
  const disk = statfsSync(folder)
  const free = disk.bavail * disk.bsize
  expect(await size({ scratchBytes: 1 })).toBe(1)
  // Other processes write to the disk too.
  expect((await size({ scratchBytes: 2 ** 49 })) / free).toBeCloseTo(1, 1)
  expect((await size({ scratchSparePercent: 90 })) / free).toBeCloseTo(0.5, 1)
  expect(await size({ objects: { folder } })).toBe(Number.POSITIVE_INFINITY)
  expect(await size({ objects: { folder }, scratchBytes: 1, scratchSparePercent: 90 })).toBe(1)
})
