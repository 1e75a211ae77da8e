import { expect, test } from '@jest/globals'
import { createEventQueue, MAX_QUEUED } from './event-queue.ts'
import { mergeEvents, normaliseEvent, type ViewEvent } from './view-event.ts'

const buildEvent = (at: number, overrides: Partial<ViewEvent> = {}): ViewEvent => ({
  video_id: '1',
  view_id: 'a',
  type: 'progress',
  at,
  ...overrides,
})
function createMemoryStore() {
  const items = new Map<string, string>()
  return {
    items,
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => void items.set(name, text),
    removeItem: (name: string) => void items.delete(name),
  }
}

test('events stay in memory and in the store until they are removed', () => {
  const store = createMemoryStore()
  const queue = createEventQueue(store, 'q')
  for (let at = 0; at < 30; at++) queue.push(buildEvent(at))
  const batch = queue.nextBatch()
  expect(batch.map(({ at }) => at)).toEqual(Array.from({ length: 25 }, (_, at) => at))
  expect(JSON.parse(store.items.get('q') ?? '')).toHaveLength(30)
  queue.push(buildEvent(30))
  queue.remove(batch)
  expect([queue.length, queue.nextBatch().map(({ at }) => at)]).toEqual([6, [25, 26, 27, 28, 29, 30]])
  queue.remove(queue.nextBatch())
  expect([queue.length, store.items.size, queue.toBeaconTexts()]).toEqual([0, 0, []])
})

test('a full queue merges progress events, so that no watched second and no first event of a view is lost', () => {
  const queue = createEventQueue(undefined, 'q')
  queue.push(buildEvent(0, { type: 'load' }))
  queue.push(buildEvent(1, { type: 'play' }))
  const max = MAX_QUEUED * 2
  for (let n = 0; n < max; n++) queue.push(buildEvent(n + 2, { position: n + 1, watched: [[n, n + 1]] }))
  expect(queue.length).toBe(MAX_QUEUED)
  const [load, play, first] = queue.nextBatch()
  expect([load?.type, play?.type]).toEqual(['load', 'play'])
  expect(first).toMatchObject({ type: 'progress', watched: [[0, max - MAX_QUEUED + 3]], position: max - MAX_QUEUED + 3 })
})

test('each text for the server is smaller than a beacon, also if the store is full', () => {
  const store = {
    ...createMemoryStore(),
    setItem: () => {
      throw new Error('full')
    },
  }
  const queue = createEventQueue(store, 'q')
  const watched = Array.from({ length: 100 }, (_, n) => [n * 1_000 + 0.123, n * 1_000 + 0.456] as const)
  for (let at = 0; at < 60; at++) queue.push(buildEvent(at, { watched, rewatched: watched }))
  const texts = queue.toBeaconTexts()
  expect(texts.flatMap((text) => JSON.parse(text) as ViewEvent[]).map(({ at }) => at)).toEqual(Array.from({ length: 60 }, (_, at) => at))
  for (const text of texts) expect(text.length).toBeLessThan(64 * 1024)
})

test('an event is normalised to its non-empty fields and to milliseconds', () => {
  expect(
    normaliseEvent(
      buildEvent(5, { position: 1.23456, watched: [[0.00049, 1.23456]], rewatched: [], language: '', subtitle: 'en', qoe: {} }),
    ),
  ).toEqual(buildEvent(5, { position: 1.235, watched: [[0, 1.235]], subtitle: 'en' }))
  expect(
    mergeEvents(buildEvent(1, { position: 9, watched: [[0, 2]], language: 'en' }), buildEvent(2, { position: 4, watched: [[1, 4]] })),
  ).toEqual(buildEvent(2, { position: 9, watched: [[0, 4]], language: 'en' }))
})
