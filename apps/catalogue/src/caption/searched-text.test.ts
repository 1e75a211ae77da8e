import { expect, test } from '@jest/globals'
import { searchedText } from './searched-text.ts'

const line = (text: string) => ({ beginMs: 0, endMs: 1, text })

test('words alone, a line each', () => {
  expect(searchedText([line('Good <i>evening</i>'), line('two')])).toBe('Good evening\ntwo\n')
  expect(searchedText([])).toBe('')
})

test('not much more than search reads, and never less, whatever the characters are', () => {
  for (const text of ['x'.repeat(9_999), '😀'.repeat(9_999)]) {
    const searched = searchedText(Array(500).fill(line(text)))
    expect([...searched].length).toBeGreaterThanOrEqual(250_000)
    expect(searched.length).toBeLessThan(520_000)
  }
})
