import { expect, test } from '@jest/globals'
import { checkCaption, mergeCaption } from './caption.ts'

const now = { mediaId: '5', title: 'English', language: 'en' }

test.each([
  ['a title of 255 characters', { title: 'x'.repeat(255) }, []],
  ['one of 256', { title: 'x'.repeat(256) }, ['title']],
  ['none', { title: '' }, ['title']],
  ['a blank one', { title: ' \u00a0' }, ['title']],
  ['one of two lines', { title: 'a\nb' }, ['title']],
  ['one with NUL', { title: 'a\0' }, ['title']],
  ['half a pair', { title: '\ud800' }, ['title']],
  ['quotes and brackets', { title: '"<b>&' }, []],
  ['a language with a region', { language: 'zh-Hant-TW' }, []],
  ['one in another spelling', { language: 'EN' }, ['language']],
  ['none', { language: '' }, ['language']],
  ['a word', { language: 'not a code' }, ['language']],
  ['everything wrong', { title: '', language: 'x' }, ['title', 'language']],
])('validates %s', (_, more, fields) => {
  expect(checkCaption({ ...now, ...more }).map(({ field }) => field)).toEqual(fields)
})

test('only the fields of the update mask change', () => {
  const input = { mediaId: '6', title: 'Deutsch', language: 'de' }
  expect(mergeCaption(now, input, ['title'])).toEqual({ ...now, title: 'Deutsch' })
  expect(mergeCaption(now, input, ['title', 'language', 'media_id'])).toEqual(input)
  expect(mergeCaption(now, input, [])).toEqual(now)
  expect(() => mergeCaption(now, input, ['organisation_id'])).toThrow('update_mask')
})
