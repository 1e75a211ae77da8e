import { expect, test } from '@jest/globals'
import { listChanges, listConflicts, mergeChanges } from './merge-changes.ts'

const base = { title: 'a', tags: ['x'], language: 'en' }

test('changes of different values are merged', () => {
  const [form, stored] = [
    { ...base, title: 'mine' },
    { ...base, tags: ['x', 'theirs'] },
  ]
  expect(listConflicts(form, base, stored)).toEqual([])
  expect(mergeChanges(form, base, stored)).toEqual({ title: 'mine', tags: ['x', 'theirs'], language: 'en' })
})

test('changes of the same value to different ones are conflicts', () => {
  const [form, stored] = [
    { ...base, title: 'mine', tags: ['y'] },
    { ...base, title: 'theirs', tags: ['y'], language: 'fr' },
  ]
  expect(listConflicts(form, base, stored)).toEqual(['title'])
  expect(mergeChanges(form, base, stored)).toEqual({ title: 'mine', tags: ['y'], language: 'fr' })
})

test('lists are compared by position', () => {
  const lines = ['one', 'two', 'three']
  expect(listConflicts(['ONE', 'two', 'three'], lines, ['one', 'two', 'THREE'])).toEqual([])
  expect(mergeChanges(['ONE', 'two', 'three'], lines, ['one', 'two', 'THREE'])).toEqual(['ONE', 'two', 'THREE'])
  expect(listConflicts(['ONE', 'two', 'three'], lines, ['Uno', 'two', 'three'])).toEqual(['0'])
  expect(listConflicts(['ONE', 'two', 'three'], lines, ['two', 'three'])).toEqual(['0'])
  expect(mergeChanges(['ONE', 'two', 'three'], lines, ['two', 'three'])).toEqual(['ONE', 'two', 'three'])
  expect(listConflicts(lines, lines, ['two', 'three'])).toEqual([])
})

test('added and removed items are stored, and conflict with every change of another person', () => {
  const lines = ['one', 'two', 'three']
  const added = ['one', 'new', 'two', 'three']
  expect(listChanges(['one', 'two'], lines)).toEqual(['2'])
  expect(listConflicts(added, lines, lines)).toEqual([])
  expect(mergeChanges(added, lines, lines)).toEqual(added)
  expect(listConflicts(added, lines, ['one', 'two', 'THREE'])).toEqual(['1', '2', '3'])
  expect(listConflicts(added, lines, ['one', 'two', 'three', 'theirs'])).toEqual(['1', '2', '3'])
  expect(mergeChanges(['one', 'two'], lines, ['one', 'two', 'THREE'])).toEqual(['one', 'two'])
})
