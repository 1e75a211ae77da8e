import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { text } from '../../server/schema/fields.ts'
import { sourceFields, withSource } from './caption-source.ts'

const url = 'https://media.example.org/a.srt'
const shape = z.strictObject({ title: text(255, { min: 1 }), ...sourceFields })
const invalidFields = (value: unknown, required: boolean) => {
  const { error } = withSource(shape, { required }).safeParse(value)
  return error?.issues.map(({ path }) => path.join('.')) ?? []
}

test.each([
  [{ title: 'x', url }, []],
  [{ title: 'x', url: 'https://media.example.org/A.VTT?x=1#y' }, []],
  [{ title: 'x', content: 'WEBVTT', format: 'vtt' }, []],
  [{}, ['title', 'url']],
  [{ title: '' }, ['title', 'url']],
  [{ title: '', url: 'https://media.example.org/a.txt' }, ['title', 'url']],
  [{ title: '', url, content: 'x' }, ['title', 'content', 'format']],
  [{ title: '', url, format: 'srt' }, ['title', 'format']],
  [{ title: 'x', content: 'a\0b', format: 'srt' }, ['content']],
  [{ title: 'x', content: 'x', format: 'ass' }, ['format']],
  [{ title: 'x', content: 'a\0b' }, ['content', 'format']],
  [{ title: 'x', url: '' }, ['url']],
  [{ title: 'x', url: 7, content: 'x', format: 'srt' }, ['url', 'content']],
])('validation of %j reports the fields %j', (value, fields) => {
  expect(invalidFields(value, true)).toEqual(fields)
})

test('the file is optional in a change', () => {
  expect(invalidFields({ title: 'x' }, false)).toEqual([])
  expect(invalidFields({ title: '', format: 'srt' }, false)).toEqual(['title', 'format'])
})

test('a value that is not an object is one error', () => {
  expect([invalidFields('x', true), invalidFields(null, true)]).toEqual([[''], ['']])
})
