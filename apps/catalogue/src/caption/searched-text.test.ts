import { expect, test } from '@jest/globals'
import { toSearchableText } from './searched-text.ts'

const line = (text: string) => ({ beginMs: 0, endMs: 1, text })

test('the searched text has the words of each line without markup', () => {
  expect(toSearchableText([line('Good <i>evening</i>'), line('two')])).toBe('Good evening\ntwo\n')
  expect(toSearchableText([])).toBe('')
})

test('the searched text has at least 250,000 characters and less than 520,000 UTF-16 units', () => {
  for (const text of ['x'.repeat(9_999), '😀'.repeat(9_999)]) {
    const searched = toSearchableText(Array(500).fill(line(text)))
    expect([...searched].length).toBeGreaterThanOrEqual(250_000)
    expect(searched.length).toBeLessThan(520_000)
  }
})
