import { expect, test } from '@jest/globals'
import { checkCaption, mergeCaption } from './caption.ts'

const current = { mediaId: '5', title: 'English', language: 'en' }

test.each([
  ['a title of 255 characters', { title: 'x'.repeat(255) }, []],
  ['a title of 256 characters', { title: 'x'.repeat(256) }, ['title']],
  ['an empty title', { title: '' }, ['title']],
  ['a blank title', { title: ' \u00a0' }, ['title']],
  ['a title of two lines', { title: 'a\nb' }, ['title']],
  ['a title with NUL', { title: 'a\0' }, ['title']],
  ['a title with an unpaired surrogate', { title: '\ud800' }, ['title']],
  ['a title with quotes and brackets', { title: '"<b>&' }, []],
  ['a language with a region', { language: 'zh-Hant-TW' }, []],
  ['a language in upper case', { language: 'EN' }, ['language']],
  ['an empty language', { language: '' }, ['language']],
  ['a language that is not a code', { language: 'not a code' }, ['language']],
  ['an empty title and an invalid language', { title: '', language: 'x' }, ['title', 'language']],
])('validates %s', (_, overrides, fields) => {
  expect(checkCaption({ ...current, ...overrides }).map(({ field }) => field)).toEqual(fields)
})

test('only the fields of the update mask change', () => {
  const input = { mediaId: '6', title: 'Deutsch', language: 'de' }
  expect(mergeCaption(current, input, ['title'])).toEqual({ ...current, title: 'Deutsch' })
  expect(mergeCaption(current, input, ['title', 'language', 'media_id'])).toEqual(input)
  expect(mergeCaption(current, input, [])).toEqual(current)
  expect(() => mergeCaption(current, input, ['organisation_id'])).toThrow('update_mask')
})
