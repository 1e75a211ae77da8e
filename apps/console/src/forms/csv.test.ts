import { expect, test } from '@jest/globals'
import { formatCsv } from './csv.ts'

test('quotes texts, and disarms those that a spreadsheet would execute', () => {
  expect(
    formatCsv([
      ['a', 'say "hi"', 'two\nlines'],
      ['=1+1', '@cmd', '-2', 'a=b'],
    ]),
  ).toBe(`"a","say ""hi""","two\nlines"\r\n"'=1+1","'@cmd","'-2","a=b"\r\n`)
})
