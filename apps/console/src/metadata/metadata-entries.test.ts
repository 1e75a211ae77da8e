import { expect, test } from '@jest/globals'
import { compareEntries, listEntries } from './metadata-entries.ts'

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
