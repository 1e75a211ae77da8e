import { expect, test } from '@jest/globals'
import { isId, isUuid } from './id.ts'

test.each(['1', '42', '9007199254740993', '9223372036854775807'])('%s is an id', (text) => {
  expect(isId(text)).toBe(true)
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
  '1'.repeat(400),
  'a',
  '1\0',
  "1' or '1",
])('%j is not an id', (text) => {
  expect(isId(text)).toBe(false)
})

test('a UUID is written in lower case with hyphens', () => {
  expect(isUuid('0199c2f0-7b3a-7c41-9d55-8f2f6d1e0a9b')).toBe(true)
  expect(['', '0199C2F0-7B3A-7C41-9D55-8F2F6D1E0A9B', '0199c2f07b3a7c419d558f2f6d1e0a9b'].some(isUuid)).toBe(false)
})
