import { describe, expect, test } from '@jest/globals'
import { addTags, checkSearchTags, checkTags, removeTags } from './tag.ts'

const buildTags = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`)

describe('tags of a call', () => {
  test.each([[[]], [buildTags(101)], [['a b']], [['']], [['x'.repeat(101)]], [['a\0']], [['\ud800']], [['a\u2003b']], [['a\nb']]])(
    'are rejected: %j',
    (tags) => {
      expect(() => checkTags(tags)).toThrow(expect.objectContaining({ kind: 'invalid' }))
    },
  )
  test.each([
    [['a']],
    [buildTags(99)],
    [buildTags(100)],
    [['x'.repeat(99), 'x'.repeat(100), '🎬'.repeat(100)]],
    [['__proto__', 'constructor']],
  ])('are accepted: %j', (tags) => {
    expect(checkTags(tags)).toEqual(tags)
  })
  test('are deduplicated, and every invalid one is reported', () => {
    expect(checkTags(['b', 'a', 'b'])).toEqual(['b', 'a'])
    const run = () => checkTags(['a', 'b c', ''])
    expect(run).toThrow(
      expect.objectContaining({ fields: [expect.objectContaining({ field: 'tags[1]' }), expect.objectContaining({ field: 'tags[2]' })] }),
    )
  })
  test('are limited to 20 in a search', () => {
    for (const count of [19, 20]) expect(checkSearchTags(buildTags(count))).toHaveLength(count)
    expect(() => checkSearchTags(buildTags(21))).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })
})

test('adding returns the new tags, and is rejected above 100', () => {
  expect(addTags(['a'], ['b', 'a'])).toEqual({ tags: ['a', 'b'], changed: ['b'] })
  expect(addTags(buildTags(98), ['a']).tags).toHaveLength(99)
  expect(addTags(buildTags(99), ['a']).tags).toHaveLength(100)
  expect(addTags(buildTags(100), ['t1'])).toEqual({ tags: buildTags(100), changed: [] })
  expect(() => addTags(buildTags(100), ['a'])).toThrow(expect.objectContaining({ kind: 'failed_precondition', reason: 'TAGS_FULL' }))
})

test('removing returns the removed tags', () => {
  expect(removeTags(['a', 'b'], ['b', 'c'])).toEqual({ tags: ['a'], changed: ['b'] })
})
