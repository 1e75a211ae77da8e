import { expect, test } from '@jest/globals'
import { readChunkTask, readTask, readWorkerTask } from './queued-task.ts'

const itemId = '7'

test.each([
  [
    { kind: 'encode', payload: { chunk: 0 } },
    { kind: 'encode', chunk: 0 },
  ],
  [
    { kind: 'audio', payload: { chunk: 12 } },
    { kind: 'audio', chunk: 12 },
  ],
  [{ kind: 'package', payload: {} }, { kind: 'package' }],
  [{ kind: 'fetch', payload: {} }, { kind: 'fetch' }],
])('the queue item %j is read as the task %j', (item, task) => {
  expect(readTask({ itemId, ...item })).toEqual(task)
})

test('an item of an unknown kind is rejected', () => {
  expect(() => readTask({ itemId, kind: 'bake', payload: {} })).toThrow('item 7 of the queue has the unknown kind bake')
})

test.each([{}, null, 'x', { chunk: '1' }, { chunk: -1 }, { chunk: 1.5 }])('the payload %j of a chunk is rejected', (payload) => {
  expect(() => readTask({ itemId, kind: 'encode', payload })).toThrow('has no valid chunk number')
})

test('a download is not a task for workers', () => {
  expect(readWorkerTask({ itemId, kind: 'probe', payload: {} })).toEqual({ kind: 'probe' })
  expect(() => readWorkerTask({ itemId, kind: 'fetch', payload: {} })).toThrow('not a task for workers')
})

test('packaging is not a task of a chunk', () => {
  expect(readChunkTask({ itemId, kind: 'audio', payload: { chunk: 3 } })).toEqual({ kind: 'audio', chunk: 3 })
  expect(() => readChunkTask({ itemId, kind: 'package', payload: {} })).toThrow('item 7 of the queue encodes no chunk')
})
