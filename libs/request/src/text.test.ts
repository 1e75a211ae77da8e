import { expect, test } from '@jest/globals'
import { checkText, firstCharacters, tidy } from './text.ts'

test.each([
  ['a NUL', 'a\0b', 'must be well-formed Unicode without NUL'],
  ['half of a pair', 'a\ud800b', 'must be well-formed Unicode without NUL'],
  ['one character too many', 'x'.repeat(11), 'must have at most 10 characters'],
  ['a very long text', 'x'.repeat(1_000), 'must have at most 10 characters'],
  ['one character of two units too many', '😀'.repeat(11), 'must have at most 10 characters'],
  ['an empty text', '', 'must not be empty'],
])('%s is rejected for a length of 1 to 10 characters', (_, text, message) => {
  expect(checkText('name', text, { min: 1, max: 10 })).toEqual([{ field: 'name', message }])
})

test.each(['x', 'x'.repeat(10), '😀'.repeat(10), '👩‍👩‍👧 Müll', ' '])('%j has 1 to 10 characters', (text) => {
  expect(checkText('name', text, { min: 1, max: 10 })).toEqual([])
})

test('a text with a larger minimum names it', () => {
  expect(checkText('password', 'short', { min: 8, max: 128 })).toEqual([{ field: 'password', message: 'must have at least 8 characters' }])
})

test.each(['', ' \t', '\u00a0'])('the blank text %j is rejected where a text must not be blank', (text) => {
  expect(checkText('name', text, { max: 10, blank: false })).toEqual([{ field: 'name', message: 'must not be blank' }])
})

test('truncation never splits a surrogate pair', () => {
  expect(firstCharacters('😀😀😀', 2)).toBe('😀😀')
  expect(tidy('a\0b\ud800', 10)).toBe('ab\ufffd')
})
