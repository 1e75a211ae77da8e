import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseCanonicalJson } from '../../server/payload/canonical-json.ts'
import { parseJsonItems } from '../../server/payload/json-text.ts'
import { MalformedItem } from '../../server/payload/lenient-list.ts'
import { payloadSchema } from '../../server/payload/payload-schema.ts'
import { readEventsFast } from './event-fast-path.ts'
import { acceptEvents } from './event-routes.ts'

const payload = payloadSchema(acceptEvents)
const fastParse = (text: string) => readEventsFast(parseCanonicalJson(text))
/**
 * Parses a text with the schema, without the fast path. Returns the events, with a `MalformedItem`
 * for each malformed one, or undefined if the whole text is rejected.
 */
function parseBySchema(text: string): unknown[] | undefined {
  try {
    const result = payload.schema.safeParse(parseJsonItems(text))
    return result.success ? (result.data as unknown[]) : undefined
  } catch {
    return undefined
  }
}

const event = { video_id: '42', view_id: '7d444840-9dc0-41d1-b245-5ffdce74fad2', type: 'progress', at: 1_893_456_000_000 }
const fullEvent = {
  ...event,
  position: 3.5,
  watched: [[0, 3.5]],
  rewatched: [],
  language: 'en',
  subtitle: '',
  qoe: { startup_ms: 120.5, stalls: 1, stalled_ms: 200, switches: 2, error: 'network' },
}

test('the fast path parses the events that players send', () => {
  for (const events of [[event], [fullEvent], Array(100).fill(fullEvent)]) {
    expect(fastParse(JSON.stringify(events))).toEqual(events)
    expect(parseBySchema(JSON.stringify(events))).toEqual(events)
  }
})

const fields = Object.keys(fullEvent)
const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(-0, 0.1, 2 ** 53, 1e21, 1e300, -1, 1_000_000, 1_000_001, 86_400_000.5))
const unusualValue = fc.oneof(
  number,
  fc.jsonValue(),
  fc.string({ unit: 'binary', maxLength: 120 }),
  fc.constantFrom('42', '042', 'x'.repeat(100), 'x'.repeat(101), ' ', '\0', '\ud800', '12.5', '[[0,1]]', 'load', 'en', 'e n', '__proto__'),
  fc.array(fc.array(number, { maxLength: 3 }), { maxLength: 3 }),
  fc.record(
    { startup_ms: qualityValue(), stalls: qualityValue(), stalled_ms: qualityValue(), switches: qualityValue(), error: qualityValue() },
    { requiredKeys: [] },
  ),
)
/** An event in which a few fields are missing or replaced, sometimes with an unknown field. */
const modifiedEvent = fc
  .record({
    replaced: fc.dictionary(fc.oneof(fc.constantFrom(...fields), fc.string()), unusualValue, { maxKeys: 2 }),
    removed: fc.subarray(fields, { maxLength: 5 }),
  })
  .map(({ replaced, removed }) => ({
    ...Object.fromEntries(Object.entries(fullEvent).filter(([name]) => !removed.includes(name))),
    ...replaced,
  }))

test('the fast path returns the same events as the schema', () => {
  let parsedCount = 0
  fc.assert(
    fc.property(fc.array(modifiedEvent, { minLength: 1, maxLength: 3 }), (events) => {
      const text = JSON.stringify(events)
      const parsed = fastParse(text)
      if (parsed === undefined) return
      parsedCount++
      expect(parseBySchema(text)).toEqual(parsed)
    }),
    { numRuns: 3_000 },
  )
  expect(parsedCount).toBeGreaterThan(100)
})

test('the general path finds the same malformed events alone and in a list', () => {
  let malformedCount = 0
  fc.assert(
    fc.property(fc.array(fc.oneof(modifiedEvent, unusualValue), { maxLength: 4 }), (values) => {
      const texts = values.map((value) => JSON.stringify(value))
      const parsed = parseBySchema(`[${texts.join(',')}]`)
      expect(parsed).toHaveLength(values.length)
      for (const [index, text] of texts.entries()) {
        expect(parsed?.[index]).toEqual(parseBySchema(`[${text}]`)?.[0])
        const isMalformed = parsed?.[index] instanceof MalformedItem
        if (isMalformed) malformedCount++
        // The fast path never accepts an event that the general path rejects.
        if (isMalformed) expect(fastParse(`[${text}]`)).toBeUndefined()
      }
    }),
    { numRuns: 1_000 },
  )
  expect(malformedCount).toBeGreaterThan(100)
})

test.each([
  ['a repeated name', '[{"video_id":"1","video_id":"2","view_id":"v","type":"load","at":1}]'],
  ['white space', '[{"video_id":"1", "view_id":"v","type":"load","at":1}]'],
  ['an escaped letter', '[{"video_id":"1","view_id":"\\u0076","type":"load","at":1}]'],
  ['an integer that loses precision', '[{"video_id":"1","view_id":"v","type":"load","at":9007199254740993}]'],
  ['a number above 2^53', '[{"video_id":"1","view_id":"v","type":"load","at":1e+21}]'],
  ['a prototype', '[{"video_id":"1","view_id":"v","type":"load","at":1,"__proto__":{}}]'],
  ['no events', '[]'],
  ['too many events', JSON.stringify(Array(101).fill(event))],
  ['more values than the limit', JSON.stringify(Array(100).fill({ ...event, watched: Array(100).fill([0, 1]) }))],
  ['deep nesting', '['.repeat(100_000)],
  ['text that is not JSON', 'nothing'],
])('the fast path does not parse %s', (_, text) => {
  expect(fastParse(text)).toBeUndefined()
})

function qualityValue() {
  return fc.oneof(number, fc.constantFrom('', 'network', 'ü', '\0', '12', null))
}
