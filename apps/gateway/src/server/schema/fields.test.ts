// Faults: B4, B5, B20
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import * as fields from './fields.ts'

/** Returns the parsed value of a field, or the message of its error. */
function read(schema: z.ZodType, value: unknown): unknown {
  const result = z.object({ it: schema }).safeParse({ it: value })
  return result.success ? result.data.it : `rejected: ${result.error.issues.map((issue) => issue.message).join('; ')}`
}

const rejected = expect.stringMatching(/^rejected: (must|is) /)

describe('int', () => {
  const schema = fields.int({ min: 1, max: 20 })

  test.each([
    [1, 1],
    [20, 20],
    ['7', 7],
    ['007', 7],
  ])('accepts %p', (value, expected) => {
    expect(read(schema, value)).toBe(expected)
  })

  test.each([
    [0],
    [21],
    [-1],
    [1.5],
    ['1.5'],
    ['1e1'],
    ['0x10'],
    [' 5'],
    ['5 '],
    ['５'],
    ['+5'],
    [''],
    [null],
    [true],
    [[5]],
    [{}],
    [Number.POSITIVE_INFINITY],
    [2 ** 53 + 2],
    ['12345678901234567890'],
  ])('rejects %p', (value) => {
    expect(read(schema, value)).toBe('rejected: must be an integer from 1 to 20')
  })

  test('a missing field is distinguished from an invalid one', () => {
    expect(read(schema, undefined)).toBe('rejected: is required')
    expect(read(schema.optional(), undefined)).toBeUndefined()
    expect(read(schema.default(10), undefined)).toBe(10)
  })

  test('accepts the largest safe integer and rejects the next one', () => {
    const wide = fields.int({ min: 0, max: Number.MAX_SAFE_INTEGER })
    expect(read(wide, '9007199254740991')).toBe(9007199254740991)
    expect(read(wide, '9007199254740993')).toEqual(rejected)
    expect(read(wide, 9007199254740992)).toEqual(rejected)
  })
})

describe('decimal', () => {
  const latitude = fields.decimal({ min: -90, max: 90 })

  test.each([
    [52.37, 52.37],
    ['-52.37', -52.37],
    ['4', 4],
  ])('accepts %p', (value, expected) => {
    expect(read(latitude, value)).toBe(expected)
  })

  test.each([[90.1], ['-91'], ['1e1'], ['.5'], ['5.'], [Number.NaN], [null], [true], ['']])('rejects %p', (value) => {
    expect(read(latitude, value)).toEqual(rejected)
  })
})

describe('flag', () => {
  test.each([
    [true, true],
    [1, true],
    ['1', true],
    ['true', true],
    [false, false],
    [0, false],
    ['0', false],
    ['false', false],
  ])('accepts %p', (value, expected) => {
    expect(read(fields.flag(), value)).toBe(expected)
  })

  test.each([[2], [-0.5], ['yes'], ['TRUE'], ['01'], [''], [null], [[1]], [{}]])('rejects %p', (value) => {
    expect(read(fields.flag(), value)).toEqual(rejected)
  })
})

describe('text', () => {
  test('counts code points, as the database does', () => {
    expect(read(fields.text(3), '🎬🎬🎬')).toBe('🎬🎬🎬')
    expect(read(fields.text(3), '🎬🎬🎬🎬')).toBe('rejected: must have at most 3 characters')
  })

  test.each([['a\0b'], ['\ud800'], ['\udc00x'], [5], [null], [['a']], [{ a: 1 }], [true]])('rejects %p', (value) => {
    expect(read(fields.text(10), value)).toEqual(rejected)
  })

  test('a text with a minimum length must not consist of white space only', () => {
    expect(read(fields.text(10, { min: 1 }), ' \t')).toBe('rejected: must not be blank')
    expect(read(fields.text(10), '')).toBe('')
  })

  test('returns an accepted text unchanged', () => {
    for (const text of ['‮right to left', "'; drop table video; --", '<script>alert(1)</script>', 'é (combining)', '👩‍👩‍👧‍👦', '﷽']) {
      expect(read(fields.text(100), text)).toBe(text)
    }
  })
})

describe('ids', () => {
  test.each([
    ['42', '42'],
    [42, '42'],
    ['9223372036854775807', '9223372036854775807'],
  ])('accepts %p in a payload', (value, expected) => {
    expect(read(fields.idField('media'), value)).toBe(expected)
  })

  test.each([['9223372036854775808'], ['12345678901234567890'], ['abc'], ['-1'], [-1], ['1 '], ['１'], [''], [null], [[1]]])(
    'rejects %p in a payload',
    (value) => {
      expect(read(fields.idField('media'), value)).toBe('rejected: must be an id: digits that do not begin with 0')
    },
  )

  test('the error for an unsafe JSON number recommends a string', () => {
    for (const number of [2 ** 53, 1.5]) expect(read(fields.idField('media'), number)).toBe('rejected: must be an id; send ids as strings')
  })

  test('an optional id accepts an empty text and null', () => {
    expect(read(fields.idOrNone('theme'), '')).toBe('')
    expect(read(fields.idOrNone('theme'), null)).toBe('')
    expect(read(fields.idOrNone('theme'), 7)).toBe('7')
    expect(read(fields.idOrNone('theme'), 'x')).toEqual(rejected)
  })

  test('a malformed id in a path is passed to the service, truncated, for a 404', () => {
    expect(read(fields.id('video'), 'abc')).toBe('abc')
    expect(String(read(fields.id('video'), 'x'.repeat(5_000))).length).toBe(300)
    expect(read(fields.id('video'), 'a\0')).toEqual(rejected)
    expect(read(fields.id('video'), '\ud800')).toEqual(rejected)
  })

  test('a malformed organisation id is passed on to the access check', () => {
    expect(read(fields.organisationIdField(), 'abc')).toBe('abc')
    expect(read(fields.organisationIdField(), 2)).toBe('2')
    expect(read(fields.organisationIdField(), 1.5)).toEqual(rejected)
    expect(read(fields.organisationIdField(), {})).toEqual(rejected)
  })
})

describe('times', () => {
  test('a timestamp is UTC', () => {
    expect(read(fields.timestamp(), '2026-02-28 23:59:59')).toEqual(new Date('2026-02-28T23:59:59Z'))
    expect(read(fields.timestamp(), '2024-02-29 00:00:00')).toEqual(new Date('2024-02-29T00:00:00Z'))
  })

  test.each([
    ['2012-02-30 00:00:00'],
    ['2023-02-29 00:00:00'],
    ['0000-00-00 00:00:00'],
    ['9999-12-31 23:59:59'],
    ['2026-13-01 00:00:00'],
    ['2026-01-01 24:00:00'],
    ['2026-01-01 23:60:00'],
    ['2026-01-01 23:59:60'],
    ['2026-01-01'],
    ['2026-01-01T00:00:00'],
    ['2026-01-01 00:00:00 '],
    ['2026-01-01 00:00:00 GMT'],
    [''],
    [1_700_000_000],
    [null],
  ])('a timestamp rejects %p', (value) => {
    expect(read(fields.timestamp(), value)).toEqual(rejected)
  })

  test.each([
    ['2030-07-01 12:00:00 GMT', '2030-07-01T12:00:00Z'],
    ['2030-07-01 12:00:00 UTC', '2030-07-01T12:00:00Z'],
    ['2030-07-01 12:00:00 Z', '2030-07-01T12:00:00Z'],
    ['2030-07-01 12:00:00Z', '2030-07-01T12:00:00Z'],
    ['2030-07-01 12:00:00 +02:00', '2030-07-01T10:00:00Z'],
    ['2030-07-01 12:00:00 -05:30', '2030-07-01T17:30:00Z'],
    ['2030-07-01 12:00:00 Europe/Berlin', '2030-07-01T10:00:00Z'],
    ['2030-01-01 12:00:00 Europe/Berlin', '2030-01-01T11:00:00Z'],
    ['2030-07-01 12:00:00 America/New_York', '2030-07-01T16:00:00Z'],
    ['2030-07-01 12:00:00 Asia/Kathmandu', '2030-07-01T06:15:00Z'],
    ['2030-07-01 12:00:00 Pacific/Kiritimati', '2030-06-30T22:00:00Z'],
  ])('an expiry accepts %p', (value, expected) => {
    expect(read(fields.expiry(), value)).toEqual(new Date(expected))
  })

  test('an ambiguous local time is read as the earlier instant', () => {
    expect(read(fields.expiry(), '2026-10-25 02:30:00 Europe/Berlin')).toEqual(new Date('2026-10-25T00:30:00Z'))
  })

  test.each([
    ['2026-03-29 02:30:00 Europe/Berlin'],
    ['2030-07-01 12:00:00'],
    ['2030-07-01 12:00:00 Mars/Olympus'],
    ['2030-07-01 12:00:00 +25:00'],
    ['2030-07-01 12:00:00 +02:60'],
    ['2030-07-01 12:00:00 02:00'],
    ['2030-07-01 12:00:00  GMT'],
    ['2012-02-30 00:00:00 GMT'],
    ['9999-12-31 23:59:59 GMT'],
    ['tomorrow'],
    [0],
    [{}],
  ])('an expiry rejects %p', (value) => {
    expect(read(fields.expiry(), value)).toEqual(rejected)
  })

  test('an empty expiry means never', () => {
    expect(read(fields.expiry(), '')).toBeNull()
    expect(read(fields.expiry(), null)).toBeNull()
  })
})

describe('lists and objects', () => {
  const tags = fields.list(fields.tag(), { max: 3, clearable: true })
  const size = fields.object(z.strictObject({ width: fields.int({ min: 1, max: 10 }) }))

  test.each([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    ['["a","b"]', ['a', 'b']],
    ['a', ['a']],
    ['[]', []],
    ['', []],
    [null, []],
  ])('a list accepts %p', (value, expected) => {
    expect(read(tags, value)).toEqual(expected)
  })

  test.each([
    ['["a"'],
    [['two words']],
    [['']],
    [['a', 'b', 'c', 'd']],
    [[5]],
    [['x'.repeat(101)]],
    [{ a: 1 }],
    [12],
    [true],
    ['[['.repeat(30)],
  ])('a list rejects %p', (value) => {
    expect(read(tags, value)).toEqual(rejected)
  })

  test('a list that cannot be cleared rejects an empty text and null', () => {
    const needed = fields.list(fields.tag(), { max: 3 })
    expect(read(needed, '')).toBe('rejected: must be an array')
    expect(read(needed, null)).toBe('rejected: must be an array')
    expect(read(needed, [])).toEqual([])
  })

  test('an object is accepted as an object or as JSON text, without unknown fields', () => {
    expect(read(size, { width: '5' })).toEqual({ width: 5 })
    expect(read(size, '{"width":5}')).toEqual({ width: 5 })
    expect(read(size, { width: 5, height: 5 })).toMatch(/"height"/)
    expect(read(size, JSON.parse('{"width":5,"__proto__":{"x":1}}'))).toMatch(/__proto__/)
  })

  test.each([['[]'], ['5'], ['null'], ['{'], [5], [null], [[]]])('an object rejects %p', (value) => {
    expect(read(size, value)).toEqual(rejected)
  })

  test('free JSON is stored as text up to its limit', () => {
    const free = fields.jsonObject(40)
    expect(read(free, { a: [1, null] })).toBe('{"a":[1,null]}')
    expect(read(free, '{ "a": 1 }')).toBe('{"a":1}')
    expect(read(free, '')).toBe('')
    expect(read(free, null)).toBe('')
    expect(read(free, JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}')
    expect(read(free, { a: 'é'.repeat(20) })).toBe('rejected: must have at most 40 bytes of JSON')
    expect(read(free, `{"a":${'['.repeat(40)}${']'.repeat(40)}}`)).toMatch(/^rejected: .*nested/)
    expect(read(free, '{"a":"\\u0000"}')).toMatch(/^rejected: .*NUL/)
  })
})

describe('languages', () => {
  test.each([
    ['en', 'en'],
    ['en_GB', 'en-GB'],
    ['PT-br', 'pt-BR'],
    ['zh_hant_tw', 'zh-Hant-TW'],
    ['iw', 'he'],
    ['tlh', 'tlh'],
    ['zxx', 'zxx'],
  ])('%p is normalised to %p', (value, expected) => {
    expect(read(fields.language(), value)).toBe(expected)
  })

  test.each([['e'], ['en--GB'], ['not a language'], ['english'], ['deutsch-DE'], ['xx'], [''], [null], [5], ['a'.repeat(65)]])(
    'rejects %p',
    (value) => {
      expect(read(fields.language(), value)).toEqual(rejected)
    },
  )
})

describe('addresses', () => {
  test('are normalised', () => {
    const value = ['192.0.2.7', '192.0.2.7/24', '2001:DB8:0::1', '2001:db8::/32']
    expect(read(fields.addressList(10), value)).toEqual(['192.0.2.7', '192.0.2.0/24', '2001:db8::1', '2001:db8::/32'])
    expect(read(fields.addressList(10), '')).toEqual([])
  })

  test.each([['192.0.2.0/33'], ['192.0.2'], ['0x7f.1'], ['fe80::1%eth0'], ['example.org'], ['']])('rejects %p', (value) => {
    expect(read(fields.addressList(10), [value])).toEqual(rejected)
  })
})

test('the error for an invalid choice lists all choices', () => {
  expect(read(fields.oneOf(['asc', 'desc']), 'ASC')).toBe('rejected: must be one of: asc, desc')
  expect(read(fields.oneOf(['asc', 'desc']), undefined)).toBe('rejected: is required')
})

test('a clearable field accepts an empty text and null', () => {
  const width = fields.clearable(fields.int({ min: 1, max: 10 }))
  expect([read(width, ''), read(width, null), read(width, '3')]).toEqual([null, null, 3])
  expect(read(width, 11)).toEqual(rejected)
})
