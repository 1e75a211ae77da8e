import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { text } from '../fields.ts'
import { sourceFields, withSource } from './caption-source.ts'

const url = 'https://media.example.org/a.srt'
const shape = z.strictObject({ title: text(255, { min: 1 }), ...sourceFields })
const named = (value: unknown, required: boolean) => {
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
])('%j names %j', (value, fields) => {
  expect(named(value, true)).toEqual(fields)
})

test('what changes may come without a file, and what is no object is one problem', () => {
  expect(named({ title: 'x' }, false)).toEqual([])
  expect(named({ title: '', format: 'srt' }, false)).toEqual(['title', 'format'])
  expect([named('x', true), named(null, true)]).toEqual([[''], ['']])
})
