import { expect, test } from '@jest/globals'
import { compareEntries, listEntries, mergeEntries } from './metadata-entries.ts'

const entry = (name: string, value: string, isPrivate = false) => ({ name, value, private: isPrivate, read_only: false })

test.each([
  ['', []],
  [{ genre: 'news' }, []],
  [{ public: [entry('genre', 'news')], private: [entry('cost', '7', true)] }, [entry('cost', '7', true), entry('genre', 'news')]],
] as const)('the metadata %j has the entries %j', (metadata, entries) => {
  expect(listEntries(metadata as Parameters<typeof listEntries>[0])).toEqual(entries)
})

test('entries are added, changed and deleted by their name', () => {
  const stored = [entry('cost', '7', true), entry('genre', 'news'), entry('mood', 'calm')]
  const entries = [entry('cost', '7'), entry('mood', 'calm'), entry('place', 'Oslo')]
  expect(compareEntries(stored, entries)).toEqual({
    added: [entry('place', 'Oslo')],
    changed: [entry('cost', '7')],
    deleted: ['genre'],
  })
})

test('after a rejected change, a form keeps its changes, and does not undo those of programs', () => {
  const base = [entry('cost', '7'), entry('genre', 'news'), entry('mood', 'calm'), entry('place', 'Oslo')]
  const rows = [entry('cost', '8'), entry('genre', 'news'), entry('mood', 'calm'), entry('speaker', 'Ada')]
  const stored = [entry('cost', '9'), entry('genre', 'sport'), entry('place', 'Oslo'), entry('score', '5')]
  const { kept, added } = mergeEntries(rows, { base, stored })
  expect(kept).toEqual([entry('cost', '8'), entry('genre', 'sport'), entry('speaker', 'Ada')])
  expect(added).toEqual([entry('score', '5')])
  expect(compareEntries(stored, [...kept, ...added])).toEqual({
    added: [entry('speaker', 'Ada')],
    changed: [entry('cost', '8')],
    deleted: ['place'],
  })
})
