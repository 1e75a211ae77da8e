import { describe, expect, jest, test } from '@jest/globals'
import { createMemo } from './memo.ts'

describe('memo', () => {
  test('computes the value of a key once', () => {
    const remember = createMemo<string>({ maxBytes: 100, size: (key, value) => key.length + value.length })
    const compute = jest.fn(() => 'value')
    expect([remember('a', compute), remember('a', compute), remember('b', compute)]).toEqual(['value', 'value', 'value'])
    expect(compute).toHaveBeenCalledTimes(2)
  })

  test('removes the least recently used values beyond the size', () => {
    const remember = createMemo<string>({ maxBytes: 10, size: (_, value) => value.length })
    const computed: string[] = []
    const read = (key: string, length: number) =>
      remember(key, () => {
        computed.push(key)
        return key.repeat(length)
      })
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) read(key, 5)
    expect(computed).toEqual(['a', 'b', 'c', 'b'])
  })

  test('returns a value that is too large to be stored', () => {
    const remember = createMemo<string>({ maxBytes: 10, size: (_, value) => value.length })
    const compute = jest.fn(() => 'x'.repeat(11))
    expect(remember('a', compute)).toBe(remember('a', compute))
    expect(compute).toHaveBeenCalledTimes(2)
  })
})
