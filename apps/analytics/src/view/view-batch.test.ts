import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { StoredEvent } from './event-row.ts'
import { batchViews, mergeBatches } from './view-batch.ts'

const ms = fc.integer({ min: 0, max: 14_000 })
const span = fc.tuple(ms, ms).map(([a, b]) => [Math.min(a, b), Math.max(a, b)])
const spans = fc.array(span, { maxLength: 3 }).map((some) => some.flat())
const quality = fc.record({
  startupMs: fc.option(ms, { nil: undefined }),
  stalls: fc.integer({ min: 0, max: 3 }),
  stalledMs: ms,
  switches: ms,
})
const storedEvents: fc.Arbitrary<StoredEvent> = fc.record({
  viewId: fc.constantFrom('a', 'b'),
  videoId: fc.constantFrom('1', '2'),
  organisationId: fc.constant('7'),
  type: fc.integer({ min: 1, max: 4 }),
  atMs: fc.integer({ min: 86_390_000, max: 86_410_000 }),
  receivedMs: fc.integer({ min: 0, max: 1_000 }),
  durationMs: fc.constantFrom(0, 4_500, 12_480),
  positionMs: fc.option(ms, { nil: undefined }),
  watched: spans,
  rewatched: spans,
  language: fc.constantFrom('', 'en', 'de'),
  subtitle: fc.constantFrom('', 'fr'),
  quality: fc.option(quality, { nil: undefined }),
  error: fc.constantFrom('', 'network'),
  client: fc.constantFrom('', 'tv/other/linux/DE/', 'phone/safari/ios//example.com', 'phone/safari/ios//example.org'),
  visitor: fc.option(fc.constantFrom('01', '02', '03'), { nil: undefined }),
})

/** Returns the merged batch in an order that does not depend on the order of events. */
function output(events: readonly StoredEvent[], all = [batchViews(events)]) {
  const { views, viewers, events: count } = mergeBatches(all)
  return {
    count,
    viewers: [...viewers.keys()].sort(),
    views: [...views]
      .map(([key, { events: _, ...view }]) => ({ key, ...view, parts: view.parts.toSorted((a, b) => a.durationMs - b.durationMs) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1)),
  }
}

test('split, shuffled and repeated events merge into the same views', () => {
  fc.assert(
    fc.property(
      fc.array(storedEvents, { minLength: 1, maxLength: 12 }).chain((events) =>
        fc.record({
          events: fc.constant(events),
          order: fc.shuffledSubarray([...events.keys()], { minLength: events.length }),
          repeated: fc.subarray([...events.keys()]),
          size: fc.integer({ min: 1, max: 5 }),
        }),
      ),
      ({ events, order, repeated, size }) => {
        const received = [...order, ...repeated].flatMap((nth) => events[nth] ?? [])
        const pieces = Array.from({ length: Math.ceil(received.length / size) }, (_, nth) =>
          batchViews(received.slice(nth * size, (nth + 1) * size)),
        )
        expect({ ...output([], pieces), count: 0 }).toEqual({ ...output(events), count: 0 })
      },
    ),
    { numRuns: 300 },
  )
})
