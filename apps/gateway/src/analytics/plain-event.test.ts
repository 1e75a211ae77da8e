import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { z } from 'zod'
import { parseJsonText } from '../payload/json-text.ts'
import { parsePlainJson } from '../payload/plain-json.ts'
import { PlayerEvent } from './event.ts'
import { readPlainEvents } from './plain-event.ts'

const schema = z.array(PlayerEvent).min(1).max(100)
const plain = (text: string) => readPlainEvents(parsePlainJson(text))
/** What the schema makes of a text; undefined where it, or the reading of JSON before it, refuses. */
function bySchema(text: string): unknown {
  try {
    const result = schema.safeParse(parseJsonText(text))
    return result.success ? result.data : undefined
  } catch {
    return undefined
  }
}

const event = { video_id: '42', view_id: '7d444840-9dc0-41d1-b245-5ffdce74fad2', type: 'progress', at: 1_893_456_000_000 }
const full = {
  ...event,
  position: 3.5,
  watched: [[0, 3.5]],
  rewatched: [],
  language: 'en',
  subtitle: '',
  qoe: { startup_ms: 120.5, stalls: 1, stalled_ms: 200, error: 'network' },
}

test('events as players send them are read without the schema', () => {
  for (const events of [[event], [full], Array(100).fill(full)]) {
    expect(plain(JSON.stringify(events))).toEqual(events)
    expect(bySchema(JSON.stringify(events))).toEqual(events)
  }
})

const fields = Object.keys(full)
const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(-0, 0.1, 2 ** 53, 1e21, 1e300, -1, 1_000_000, 1_000_001, 86_400_000.5))
const odd = fc.oneof(
  number,
  fc.jsonValue(),
  fc.string({ unit: 'binary', maxLength: 120 }),
  fc.constantFrom('42', '042', 'x'.repeat(100), 'x'.repeat(101), ' ', '\0', '\ud800', '12.5', '[[0,1]]', 'load', 'en', 'e n', '__proto__'),
  fc.array(fc.array(number, { maxLength: 3 }), { maxLength: 3 }),
  fc.record({ startup_ms: odd1(), stalls: odd1(), stalled_ms: odd1(), error: odd1() }, { requiredKeys: [] }),
)
/** An event in which a few fields are left out or hold something else, and at times one that is no field. */
const bent = fc
  .record({
    put: fc.dictionary(fc.oneof(fc.constantFrom(...fields), fc.string()), odd, { maxKeys: 2 }),
    drop: fc.subarray(fields, { maxLength: 5 }),
  })
  .map(({ put, drop }) => ({ ...Object.fromEntries(Object.entries(full).filter(([name]) => !drop.includes(name))), ...put }))

test('what is read without the schema is what the schema makes of it', () => {
  let read = 0
  fc.assert(
    fc.property(fc.array(bent, { minLength: 1, maxLength: 3 }), (events) => {
      const text = JSON.stringify(events)
      const found = plain(text)
      if (found === undefined) return
      read++
      expect(bySchema(text)).toEqual(found)
    }),
    { numRuns: 3_000 },
  )
  expect(read).toBeGreaterThan(100)
})

test.each([
  ['a name twice', '[{"video_id":"1","video_id":"2","view_id":"v","type":"load","at":1}]'],
  ['white space', '[{"video_id":"1", "view_id":"v","type":"load","at":1}]'],
  ['an escaped letter', '[{"video_id":"1","view_id":"\\u0076","type":"load","at":1}]'],
  ['a number that is rounded', '[{"video_id":"1","view_id":"v","type":"load","at":9007199254740993}]'],
  ['a number beyond those that JSON holds exactly', '[{"video_id":"1","view_id":"v","type":"load","at":1e+21}]'],
  ['a prototype', '[{"video_id":"1","view_id":"v","type":"load","at":1,"__proto__":{}}]'],
  ['no events', '[]'],
  ['too many events', JSON.stringify(Array(101).fill(event))],
  ['more intervals than a text may hold', JSON.stringify(Array(100).fill({ ...event, watched: Array(100).fill([0, 1]) }))],
  ['depth', '['.repeat(100_000)],
  ['no JSON', 'nothing'],
])('%s is left to the schema', (_, text) => {
  expect(plain(text)).toBeUndefined()
})

function odd1() {
  return fc.oneof(number, fc.constantFrom('', 'network', 'ü', '\0', '12', null))
}
