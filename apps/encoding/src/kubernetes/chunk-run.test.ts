import { expect, test } from '@jest/globals'
import { firstChunks, kubernetesJobName, readIndexes } from './chunk-run.ts'

test.each([
  [undefined, []],
  ['', []],
  ['0', [0]],
  ['1,3-5,7', [1, 3, 4, 5, 7]],
])('the indexes %p of a status are %p', (text, indexes) => {
  expect(readIndexes(text)).toEqual(indexes)
})

test('the name of a Kubernetes Job is short enough for its pods', () => {
  const name = kubernetesJobName('a-release-of-20-chars', { jobId: '1'.repeat(10), runId: '1'.repeat(10) })
  expect(`${name}-999999`.length).toBeLessThanOrEqual(63)
})

test.each([
  [[0, 1, 2], 3, [0, 1, 2]],
  [[0, 1, 2, 3, 4, 5, 6, 7, 8], 2, [0, 1]],
  [[3, 8, 9], 1, [3]],
])('assigns the first of the chunks %j to %i indexes: %j', (chunks, indexes, first) => {
  expect(firstChunks({ chunks }, indexes)).toEqual(first)
})
