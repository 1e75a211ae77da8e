import { expect, test } from '@jest/globals'
import { formatBar, formatBytes, type Output, printObject, printRows } from './output.ts'

const record = (isJson: boolean) => {
  const lines: string[] = []
  const output: Output = { isJson, print: (line) => lines.push(line), note: () => {}, status: () => {} }
  return { output, lines }
}

test('rows are a table with aligned columns, and texts of users cannot control the terminal', () => {
  const { output, lines } = record(false)
  printRows(
    output,
    [
      { video_id: '7', title: 'a\u001b[2Jb\nc' },
      { video_id: '1234', title: undefined },
    ],
    ['video_id', 'title'],
  )
  expect(lines).toEqual(['video id  title', '7         a [2Jb c', '1234'])
})

test('with JSON each row is a line with all fields', () => {
  const { output, lines } = record(true)
  printRows(output, [{ video_id: '7', other: [1] }], ['video_id'])
  printObject(output, { ok: true })
  expect(lines).toEqual(['{"video_id":"7","other":[1]}', '{"ok":true}'])
})

test.each([
  [0, '[------------------------]   0 %'],
  [0.5, '[############------------]  50 %'],
  [1, '[########################] 100 %'],
])('a share of %d is %s', (share, text) => expect(formatBar(share)).toBe(text))

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 kB'],
  [3_200_000_000, '3.2 GB'],
])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))
