import { describe, expect, test } from '@jest/globals'
import { addTags, checkTags, checkWantedTags, removeTags } from './tag.ts'

const many = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`)

describe('tags of a call', () => {
  test.each([[[]], [many(101)], [['a b']], [['']], [['x'.repeat(101)]], [['a\0']], [['\ud800']], [['a\u2003b']], [['a\nb']]])(
    'are refused: %j',
    (tags) => {
      expect(() => checkTags(tags)).toThrow(expect.objectContaining({ kind: 'invalid' }))
    },
  )
  test.each([[['a']], [many(99)], [many(100)], [['x'.repeat(99), 'x'.repeat(100), '🎬'.repeat(100)]], [['__proto__', 'constructor']]])(
    'are taken: %j',
    (tags) => {
      expect(checkTags(tags)).toEqual(tags)
    },
  )
  test('count once, and bad ones are all named', () => {
    expect(checkTags(['b', 'a', 'b'])).toEqual(['b', 'a'])
    const run = () => checkTags(['a', 'b c', ''])
    expect(run).toThrow(
      expect.objectContaining({ fields: [expect.objectContaining({ field: 'tags[1]' }), expect.objectContaining({ field: 'tags[2]' })] }),
    )
  })
  test('are at most 20 where videos are looked for', () => {
    for (const count of [19, 20]) expect(checkWantedTags(many(count))).toHaveLength(count)
    expect(() => checkWantedTags(many(21))).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })
})

test('adding answers what was not there, and stops at 100', () => {
  expect(addTags(['a'], ['b', 'a'])).toEqual({ tags: ['a', 'b'], touched: ['b'] })
  expect(addTags(many(98), ['a']).tags).toHaveLength(99)
  expect(addTags(many(99), ['a']).tags).toHaveLength(100)
  expect(addTags(many(100), ['t1'])).toEqual({ tags: many(100), touched: [] })
  expect(() => addTags(many(100), ['a'])).toThrow(expect.objectContaining({ kind: 'refused', reason: 'TAGS_FULL' }))
})

test('removing answers what was there', () => {
  expect(removeTags(['a', 'b'], ['b', 'c'])).toEqual({ tags: ['a'], touched: ['b'] })
})
