// Faults: B7
import { describe, expect, test } from '@jest/globals'
import type { DomainError, FieldError } from '@vitascope/errors'
import { extendTimeout, recordFigure } from '@vitascope/testing'
import { parseJsonText } from './json-text.ts'

function catchRejection(text: string, field?: string): { reason: string; fields: readonly FieldError[] } {
  try {
    parseJsonText(text, field)
  } catch (error) {
    const { reason, fields } = error as DomainError
    return { reason, fields }
  }
  throw new Error(`it was taken: ${text.slice(0, 100)}`)
}

test.each([
  '{"a":[1,2.5,-3e2,"x\\"}",{"b":null}],"c":{"a":true}}',
  '[]',
  '"a text"',
  '{"id":9007199254740991,"ids":"9007199254740993"}',
  '{"tag":"\\ud83d\\ude00","same":{"same":1},"other":{"same":2}}',
  '{"\\u0061":1,"b":2}',
])('parses %s as JSON.parse does', (text) => {
  expect(parseJsonText(text)).toEqual(JSON.parse(text))
})

test('keeps a field named __proto__ a field', () => {
  const value = parseJsonText('{"__proto__":{"polluted":true}}') as object
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

describe('rejects', () => {
  test.each(['', '{', '{"a":1', '{a:1}', '[1,]', 'undefined', '{"a":"\u0001"}', '{}{}', '"\\', '{"a":01}', '{"a":0x10}', '﻿{}'])(
    '%j, which is not JSON',
    (text) => {
      expect(catchRejection(text).reason).toBe('MALFORMED_PAYLOAD')
      expect(catchRejection(text, 'data').fields).toEqual([{ field: 'data', message: 'must be JSON' }])
    },
  )
  test.each([
    ['{"a":1,"b":2,"a":3}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"x":[{},{"y":{"z":1,"z":2}}]}', 'x[1].y.z'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('a repeated name in one object: %s', (text, field) => {
    expect(catchRejection(text).fields).toEqual([{ field, message: 'must not be repeated' }])
  })
  test.each([
    ['{"a":"b\\u0000c"}', 'a'],
    ['{"a":["b","\\ud800"]}', 'a[1]'],
    ['{"a":{"b\\udc00":1}}', 'a.b�'],
    ['{"a\\u0000b":1}', 'a\\0b'],
  ])('a NUL or an unpaired surrogate: %s', (text, field) => {
    expect(catchRejection(text).fields.map((f) => f.field)).toEqual([field])
  })
  test.each([
    ['{"id":9007199254740993}', 'send ids as strings'],
    ['{"id":9007199254740993.0}', 'send ids as strings'],
    ['{"id":-9007199254740992}', 'send ids as strings'],
    ['{"id":12345678901234567890}', 'send ids as strings'],
    ['{"id":1e309}', 'out of range'],
  ])('a number that loses precision: %s', (text, message) => {
    expect(catchRejection(text).fields).toEqual([{ field: 'id', message: expect.stringContaining(message) }])
  })
  test('more than 32 levels', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    expect(parseJsonText(nested(32))).toBeDefined()
    expect(catchRejection(nested(33)).reason).toBe('MALFORMED_PAYLOAD')
    expect(catchRejection('{"a":'.repeat(100_000)).reason).toBe('MALFORMED_PAYLOAD')
  })
  test('1 MiB of names or items within 500 ms', () => {
    const names = `{${Array.from({ length: 100_000 }, (_, i) => `"n${i}":1`).join(',')}}`
    const items = `{"tags":[${Array.from({ length: 100_000 }, () => '"a"').join(',')}]}`
    const started = performance.now()
    expect(catchRejection(names).fields).toEqual([{ field: 'payload', message: 'must not have more than 5000 items' }])
    expect(catchRejection(items).fields).toEqual([{ field: 'tags', message: 'must not have more than 5000 items' }])
    const took = performance.now() - started
    recordFigure('B7', `1 MiB of names and of items rejected in ${Math.round(took)} ms`)
    expect(took).toBeLessThan(extendTimeout(500))
  })
})

/** A JSON list that repeats the item until it has 1 MiB. */
const filled = (one: string, bytes = 1024 * 1024) =>
  `[${Array(Math.floor((bytes - 2) / (one.length + 1)))
    .fill(one)
    .join(',')}]`
const buildArray = (one: string) => `[${Array(4_999).fill(one).join(',')}]`
const named = (name: (i: number) => string) => `{${Array.from({ length: 4_999 }, (_, i) => `"${name(i)}":1`).join(',')}}`
const below = (levels: number, name: string, inner: string) => `${`{"${name}":`.repeat(levels)}${inner}${'}'.repeat(levels)}`

test.each([
  ['lists of NULs', filled(buildArray('"\\u0000"'))],
  ['numbers out of range', filled(buildArray('1e999'))],
  ['one repeated name', filled(named(() => 'a'))],
  ['NULs below long names', below(20, 'n'.repeat(1_000), filled(buildArray('"\\u0000"'), 900_000))],
  ['names with unpaired surrogates', filled(named((i) => `\\ud800${i}`))],
  ['NULs in one list', buildArray('"\\u0000"')],
  ['one name in one object', named(() => 'a')],
  ['lists in lists', filled('['.repeat(31) + ']'.repeat(31))],
  ['small lists', filled(buildArray('0'))],
])('reports at most 100 errors for 1 MiB of %s within 500 ms', (_, text) => {
  const started = process.cpuUsage()
  const { fields } = catchRejection(text)
  const { user, system } = process.cpuUsage(started)
  // Microseconds of CPU time of this process.
  expect(user + system).toBeLessThan(500_000)
  expect([fields.length > 0, fields.length <= 100]).toEqual([true, true])
  expect(JSON.stringify(fields).length).toBeLessThan(20_000)
})

test('accepts at most 20,000 values and names', () => {
  const text = (values: number) => `[${[5_000, 5_000, 5_000, values].map((count) => `[${Array(count).fill(0).join(',')}]`).join(', ')} ]`
  expect(parseJsonText(text(4_995))).toHaveLength(4)
  const message = 'must not have more than 20000 values and names in all'
  expect(catchRejection(text(4_996)).fields).toEqual([{ field: 'payload', message }])
  expect(catchRejection(text(4_996), 'data').fields).toEqual([{ field: 'data', message }])
})

test('accepts the largest payload of any endpoint: three objects of 10,000 bytes and two full lists', () => {
  const object = { '': Array(4_996).fill(0) }
  const ids = Array(100).fill('4611686018427387905')
  const payload = { javascript_api: object, monetization: object, events_triggered_by_click: object, tags: ids, locations: ids }
  expect(JSON.stringify(object).length).toBeGreaterThan(9_990)
  expect(parseJsonText(JSON.stringify(payload))).toEqual(payload)
})

test('takes time linear in the size of the text', () => {
  const text = (length: number) => `{"a":[${Array.from({ length: 4_000 }, () => `{"b":"${'x'.repeat(length / 4_000)}"}`).join(',')}]}`
  const time = (input: string) => {
    const started = performance.now()
    parseJsonText(input)
    return performance.now() - started
  }
  const [small, large] = [text(400_000), text(900_000)]
  time(small)
  const best = (input: string) => Math.min(...Array.from({ length: 5 }, () => time(input)))
  expect(best(large)).toBeLessThan(best(small) * 6 + 5)
})
