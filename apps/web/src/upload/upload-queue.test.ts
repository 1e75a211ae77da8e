import { expect, test } from '@jest/globals'
import type { UploadState } from './upload-item.ts'
import { UploadQueue } from './upload-queue.ts'

/** An item whose upload ends when the test calls `end`. */
class TestItem {
  state: UploadState = { kind: 'waiting' }
  end: (isKeyAccepted: boolean) => void = () => {}

  get isActive(): boolean {
    return this.state.kind === 'uploading'
  }

  start(): Promise<boolean> {
    this.state = { kind: 'uploading', waiting: undefined }
    return new Promise((resolve) => {
      this.end = (isKeyAccepted) => {
        this.state = isKeyAccepted ? { kind: 'uploaded', videoId: '1' } : { kind: 'waiting' }
        resolve(isKeyAccepted)
      }
    })
  }
}

function createQueue(count: number) {
  const items = Array.from({ length: count }, () => new TestItem())
  const counts = { rejections: 0 }
  const queue = new UploadQueue(() => counts.rejections++)
  for (const item of items) queue.items.add(item)
  return { queue, counts, items, kinds: () => items.map(({ state }) => state.kind) }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('files start two at a time in their order, and only when a key is known', async () => {
  const { queue, items, kinds } = createQueue(3)
  queue.fill()
  expect(kinds()).toEqual(['waiting', 'waiting', 'waiting'])
  queue.open()
  expect(kinds()).toEqual(['uploading', 'uploading', 'waiting'])
  items[1]?.end(true)
  await settled()
  expect(kinds()).toEqual(['uploading', 'uploaded', 'uploading'])
})

test('when a file is paused, the next one starts', () => {
  const { queue, items, kinds } = createQueue(3)
  queue.open()
  const [first] = items
  if (first) first.state = { kind: 'paused' }
  queue.fill()
  expect(kinds()).toEqual(['paused', 'uploading', 'uploading'])
})

test('a rejected key is reported once, and files wait for another key', async () => {
  const { queue, counts, items, kinds } = createQueue(3)
  queue.open()
  items[0]?.end(false)
  items[1]?.end(false)
  await settled()
  expect([queue.isOpen, counts.rejections, kinds()]).toEqual([false, 1, ['waiting', 'waiting', 'waiting']])
  queue.open()
  expect(kinds()).toEqual(['uploading', 'uploading', 'waiting'])
})
