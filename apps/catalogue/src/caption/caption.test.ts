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
])('%s', (_, more, fields) => {
  expect(checkCaption({ ...now, ...more }).map(({ field }) => field)).toEqual(fields)
})

test('only what the mask names changes', () => {
  const given = { mediaId: '6', title: 'Deutsch', language: 'de' }
  expect(mergeCaption(now, given, ['title'])).toEqual({ ...now, title: 'Deutsch' })
  expect(mergeCaption(now, given, ['title', 'language', 'media_id'])).toEqual(given)
  expect(mergeCaption(now, given, [])).toEqual(now)
  expect(() => mergeCaption(now, given, ['organisation_id'])).toThrow('update_mask')
})
