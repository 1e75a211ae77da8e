import { expect, test } from '@jest/globals'
import { newRandomId, parseId } from './id.ts'

test.each(['1', '42', '9007199254740993', '9223372036854775807'])('%s is an id', (text) => {
  expect(parseId(text)).toBe(text)
})

test.each([
  '',
  '0',
  '-1',
  '+1',
  '01',
  ' 5',
  '5 ',
  '1.5',
  '1e3',
  '0x10',
  '５',
  '9223372036854775808',
  '99999999999999999999',
  'a',
  '1\0',
  "1' or '1",
])('%j is not an id', (text) => {
  expect(parseId(text)).toBeUndefined()
})

test('random ids are valid and use the whole range', () => {
  const ids = Array.from({ length: 1_000 }, newRandomId)
  expect(ids.every(parseId)).toBe(true)
  expect(new Set(ids).size).toBe(1_000)
  expect(ids.some((id) => BigInt(id) > 2n ** 62n)).toBe(true)
})
