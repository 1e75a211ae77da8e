import { expect, test } from '@jest/globals'
import { checkText, firstCharacters, tidy } from './text.ts'

test.each([
  ['a NUL', 'a\0b', 1],
  ['half of a pair', 'a\ud800b', 1],
  ['one character too many', 'x'.repeat(11), 1],
  ['nothing', '', 1],
  ['as many as there may be', 'x'.repeat(10), 0],
  ['as many that need two units each', '😀'.repeat(10), 0],
  ['one too many that need two units each', '😀'.repeat(11), 1],
])('%s is validated for a length of 1 to 10 characters', (_, text, problems) => {
  expect(checkText('name', text, { min: 1, max: 10 })).toHaveLength(problems)
})

test('truncation never splits a surrogate pair', () => {
  expect(firstCharacters('😀😀😀', 2)).toBe('😀😀')
  expect(tidy('a\0b\ud800', 10)).toBe('ab\ufffd')
})
