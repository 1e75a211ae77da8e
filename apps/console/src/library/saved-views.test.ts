import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { deleteView, readSavedViews, saveView } from './saved-views.ts'

const stored = new Map<string, string>()
const storage = {
  getItem: (name: string) => stored.get(name) ?? null,
  setItem: (name: string, value: string) => void stored.set(name, value),
}

beforeEach(() => {
  stored.clear()
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true })
})
afterEach(() => {
  jest.restoreAllMocks()
  Reflect.deleteProperty(globalThis, 'localStorage')
})

test('a view is stored without its page, sorted by name, for one user of one organisation', () => {
  saveView('1', '7', { name: 'Talks', search: { tag: 'talk', page: 3 } })
  saveView('1', '7', { name: 'Failed', search: { status: 'failed' } })
  expect(readSavedViews('1', '7')).toEqual([
    { name: 'Failed', search: { status: 'failed' } },
    { name: 'Talks', search: { tag: 'talk' } },
  ])
  expect(readSavedViews('2', '7')).toEqual([])
  expect(readSavedViews('1', '8')).toEqual([])
})

test('a view replaces one of the same name, and can be deleted', () => {
  saveView('1', '7', { name: 'Talks', search: { tag: 'talk' } })
  expect(saveView('1', '7', { name: 'Talks', search: { tag: 'lecture' } })).toEqual([{ name: 'Talks', search: { tag: 'lecture' } }])
  expect(deleteView('1', '7', 'Talks')).toEqual([])
  expect(readSavedViews('1', '7')).toEqual([])
})

test.each([
  ['{', []],
  ['null', []],
  ['[1, {"name": 2}, {"name": "a", "search": {"status": "unknown", "tag": "b"}}]', [{ name: 'a', search: { tag: 'b' } }]],
])('the stored text %s has the views %j', (text, views) => {
  stored.set('vitascope-views:1:7', text)
  expect(readSavedViews('1', '7')).toEqual(views)
})
