import { expect, test } from '@jest/globals'
import { checkText, firstCharacters, tidy } from './text.ts'

test.each([
  ['a NUL', 'a\0b', 1],
  ['an unpaired surrogate', 'a\ud800b', 1],
  ['a text of 11 characters', 'x'.repeat(11), 1],
  ['an empty text', '', 1],
  ['a text of 10 characters', 'x'.repeat(10), 0],
  ['a text of 10 surrogate pairs', '😀'.repeat(10), 0],
  ['a text of 11 surrogate pairs', '😀'.repeat(11), 1],
])('%s is validated for a length of 1 to 10 characters', (_, text, problems) => {
  expect(checkText('name', text, { min: 1, max: 10 })).toHaveLength(problems)
})

test('truncation never splits a surrogate pair', () => {
  expect(firstCharacters('😀😀😀', 2)).toBe('😀😀')
  expect(tidy('a\0b\ud800', 10)).toBe('ab\ufffd')
})
