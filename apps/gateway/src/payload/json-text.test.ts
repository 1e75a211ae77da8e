import { describe, expect, test } from '@jest/globals'
import type { DomainError, FieldError } from '@vitascope/errors'
import { parseJsonText } from './json-text.ts'

function refusalOf(text: string, field?: string): { reason: string; fields: readonly FieldError[] } {
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
])('takes %s as JSON.parse does', (text) => {
  expect(parseJsonText(text)).toEqual(JSON.parse(text))
})

test('keeps a field named __proto__ a field', () => {
  const value = parseJsonText('{"__proto__":{"polluted":true}}') as object
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

describe('refuses', () => {
  test.each(['', '{', '{"a":1', '{a:1}', '[1,]', 'undefined', '{"a":"\u0001"}', '{}{}', '"\\', '{"a":01}', '{"a":0x10}', '﻿{}'])(
    '%j, which is no JSON',
    (text) => {
      expect(refusalOf(text).reason).toBe('MALFORMED_PAYLOAD')
      expect(refusalOf(text, 'data').fields).toEqual([{ field: 'data', message: 'must be JSON' }])
    },
  )
  test.each([
    ['{"a":1,"b":2,"a":3}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"x":[{},{"y":{"z":1,"z":2}}]}', 'x[1].y.z'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('a name twice in one object: %s', (text, field) => {
    expect(refusalOf(text).fields).toEqual([{ field, message: 'must be there once' }])
  })
  test.each([
    ['{"a":"b\\u0000c"}', 'a'],
    ['{"a":["b","\\ud800"]}', 'a[1]'],
    ['{"a":{"b\\udc00":1}}', 'a.b�'],
    ['{"a\\u0000b":1}', 'a\\0b'],
  ])('a NUL, or half of a pair: %s', (text, field) => {
    expect(refusalOf(text).fields.map((f) => f.field)).toEqual([field])
  })
  test.each([
    ['{"id":9007199254740993}', 'send ids as strings'],
    ['{"id":9007199254740993.0}', 'send ids as strings'],
    ['{"id":-9007199254740992}', 'send ids as strings'],
    ['{"id":12345678901234567890}', 'send ids as strings'],
    ['{"id":1e309}', 'out of range'],
  ])('a number that would be rounded: %s', (text, message) => {
    expect(refusalOf(text).fields).toEqual([{ field: 'id', message: expect.stringContaining(message) }])
  })
  test('more than 32 levels, and takes 32', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    expect(parseJsonText(nested(32))).toBeDefined()
    expect(refusalOf(nested(33)).reason).toBe('MALFORMED_PAYLOAD')
    expect(refusalOf('{"a":'.repeat(100_000)).reason).toBe('MALFORMED_PAYLOAD')
  })
  test('a MiB of names or items, quickly', () => {
    const names = `{${Array.from({ length: 100_000 }, (_, i) => `"n${i}":1`).join(',')}}`
    const items = `{"tags":[${Array.from({ length: 100_000 }, () => '"a"').join(',')}]}`
    const started = performance.now()
    expect(refusalOf(names).fields).toEqual([{ field: 'payload', message: 'must not have more than 5000 items' }])
    expect(refusalOf(items).fields).toEqual([{ field: 'tags', message: 'must not have more than 5000 items' }])
    expect(performance.now() - started).toBeLessThan(500)
  })
})

test('is linear: twice the text takes at most about twice the time', () => {
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
