import { expect, test } from '@jest/globals'
import { firstChunks, nameOfRun, readIndexes } from './run.ts'

test.each([
  [undefined, []],
  ['', []],
  ['0', [0]],
  ['1,3-5,7', [1, 3, 4, 5, 7]],
])('the indexes %p of a status are %p', (text, indexes) => {
  expect(readIndexes(text)).toEqual(indexes)
})

test('a Job has a name that its pods can have, too, with the largest numbers there are likely to be', () => {
  const name = nameOfRun('a-release-of-20-chars', { jobId: '1'.repeat(10), runId: '1'.repeat(10) })
  expect(`${name}-999999`.length).toBeLessThanOrEqual(63)
})

test.each([
  [[0, 1, 2], 3, [0, 1, 2]],
  [[0, 1, 2, 3, 4, 5, 6, 7, 8], 2, [0, 1]],
  [[3, 8, 9], 1, [3]],
])('of the chunks %j each of %i indexes has one of the first: %j', (chunks, indexes, first) => {
  expect(firstChunks({ chunks }, indexes)).toEqual(first)
})
