import { describe, expect, test } from '@jest/globals'
import { afterFault, isJobId, percentOf } from './job.ts'

const ours = (code: number, attempt: number) => afterFault({ attempt }, { code, message: '' }, 2_000)

describe('after a fault', () => {
  test.each([4001, 4002, 4003, 4004])('%d, of the source, a job has failed', (code) => {
    expect(ours(code, 1)).toEqual({ next: 'failed' })
  })
  test.each([5000, 5001, 5002, 5003, 5004, 5005])('%d, of ours, it is tried three times', (code) => {
    expect(ours(code, 1)).toMatchObject({ next: 'again', attempt: 2 })
    expect(ours(code, 2)).toMatchObject({ next: 'again', attempt: 3 })
    expect(ours(code, 3)).toEqual({ next: 'failed' })
  })
  test.each([
    ['of the encoder', 5002, 1, 1_500, 2_500],
    ['of the encoder for the second time', 5002, 2, 6_000, 10_000],
    ['of the storage', 5004, 1, 15_000, 25_000],
    ['of the storage for the second time', 5004, 2, 60_000, 100_000],
    ['of a worker that was lost', 5001, 2, 0, 0],
  ])('%s it waits long enough, and no two jobs alike', (_, code, attempt, least, most) => {
    const after = ours(code, attempt)
    if (after.next !== 'again') throw new Error('it should be tried again')
    expect(after.delayMs).toBeGreaterThanOrEqual(least)
    expect(after.delayMs).toBeLessThanOrEqual(most)
  })
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
] as const)('%s, %d done, is %d percent of a job', (part, done, percent) => {
  expect(percentOf(part, done)).toBe(percent)
})

test.each([
  ['1', true],
  ['999999999999999999', true],
  ['0', false],
  ['01', false],
  ['1000000000000000000', false],
  ['-1', false],
  ['1 ', false],
  ['', false],
])('"%s" as an id of a job: %s', (text, is) => {
  expect(isJobId(text)).toBe(is)
})
