// Faults: C19
import { describe, expect, test } from '@jest/globals'
import { afterFault, toJobPercent } from './job.ts'

const decideAfter = (code: number, attempt: number, storageFaults = 0) =>
  afterFault({ attempt, storageFaults }, { code, message: '' }, 2_000)

describe('after a fault', () => {
  test.each([4001, 4002, 4003, 4004])('%d of the source, a job fails', (code) => {
    expect(decideAfter(code, 1)).toEqual({ next: 'failed' })
  })
  test.each([5000, 5001, 5002, 5003, 5005])('%d of the platform, a job has three attempts', (code) => {
    expect(decideAfter(code, 1)).toMatchObject({ next: 'retry', attempt: 2 })
    expect(decideAfter(code, 2)).toMatchObject({ next: 'retry', attempt: 3 })
    expect(decideAfter(code, 3)).toEqual({ next: 'failed' })
  })
  test.each([
    ['a first encoder fault', 5002, 1, 1_500, 2_500],
    ['a second encoder fault', 5002, 2, 6_000, 10_000],
    ['a lost worker', 5001, 2, 0, 0],
  ])('the backoff is within its bounds and differs between jobs: %s', (_, code, attempt, min, max) => {
    const after = decideAfter(code, attempt)
    if (after.next !== 'retry') throw new Error('expected a retry')
    expect(after.delayMs).toBeGreaterThanOrEqual(min)
    expect(after.delayMs).toBeLessThanOrEqual(max)
  })
})

test('a fault that disables copying counts as no attempt', () => {
  const fault = { code: 5007, message: '' }
  expect(afterFault({ attempt: 3, storageFaults: 0, dropsCopy: true }, fault, 2_000)).toEqual({ next: 'retry', attempt: 3, delayMs: 0 })
  expect(afterFault({ attempt: 3, storageFaults: 0, dropsCopy: false }, fault, 2_000)).toEqual({ next: 'failed' })
})

test('a storage fault counts as no attempt and is retried five times within 15 minutes', () => {
  const waits = [0, 1, 2, 3, 4].map((faults) => {
    const after = decideAfter(5004, 3, faults)
    if (after.next !== 'retry') throw new Error('expected a retry')
    expect(after.attempt).toBe(3)
    return after.delayMs
  })
  const all = waits.reduce((sum, wait) => sum + wait, 0)
  expect(waits[0]).toBeGreaterThanOrEqual(15_000)
  expect(all).toBeGreaterThan(7 * 60_000)
  expect(all).toBeLessThan(15 * 60_000)
  expect(decideAfter(5004, 1, 5)).toEqual({ next: 'failed' })
})

test.each([
  ['fetch', 0, 5],
  ['fetch', 1, 10],
  ['probe', 0, 10],
  ['encode', 0, 12],
  ['encode', 0.5, 53],
  ['encode', 1, 95],
  ['package', 0.5, 97],
  ['package', 1, 99],
  ['package', 7, 99],
  ['encode', -1, 12],
] as const)('the phase %s with a progress of %d is %d percent of a job', (phase, done, percent) => {
  expect(toJobPercent(phase, done)).toBe(percent)
})
