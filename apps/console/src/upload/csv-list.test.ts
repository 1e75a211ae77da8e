import { expect, test } from '@jest/globals'
import { MAX_CSV_ROWS, readCsvList, toUploadPayload } from './csv-list.ts'

const URL_A = 'https://example.org/a.mp4'

test('columns have any order, upper case and quotes with line ends', () => {
  const list = readCsvList(`\uFEFFTitle;URL;tags\n"First; of\ntwo";${URL_A};"talk, 2026"\n\nSecond;https://example.org/b.mp4;\n`)
  expect(list.problems).toEqual([])
  expect(list.rows.map(({ line, problems }) => [line, problems])).toEqual([
    [2, []],
    [5, []],
  ])
  expect(list.rows.map(toUploadPayload)).toEqual([
    { url: URL_A, name: 'First; of\ntwo', tags: ['talk', '2026'] },
    { url: 'https://example.org/b.mp4', name: 'Second' },
  ])
})

test.each([
  ['', 'noUrl'],
  ['ftp://example.org/a', 'notAUrl'],
  ['no address', 'notAUrl'],
  [URL_A, 'duplicate'],
  [`https://example.org/${'a'.repeat(2_048)}`, 'tooLong'],
])('the address %j of a row has the problem %s, and the other rows have none', (url, problem) => {
  const { rows } = readCsvList(`url,title\n${URL_A},a\n${url},b\nhttps://example.org/c.mp4,c\n`)
  expect(rows.map(({ problems }) => problems.map((one) => one.problem))).toEqual([[], [problem], []])
})

test('a row can have several problems', () => {
  const { rows } = readCsvList(`url,visibility\nnothing,secret,more\n${URL_A},Private\n`)
  expect(rows[0]?.problems).toEqual([
    { problem: 'notAUrl' },
    { problem: 'unknownVisibility', value: 'secret' },
    { problem: 'tooManyFields' },
  ])
  expect(rows[1] && toUploadPayload(rows[1])).toEqual({ url: URL_A, name: 'a', visibility: 'private' })
})

test.each([
  ['', [{ problem: 'noUrlColumn' }]],
  ['title\na', [{ problem: 'noUrlColumn' }]],
  ['url\0', [{ problem: 'notText' }]],
  ['url,author\n', [{ problem: 'unknownColumn', value: 'author' }, { problem: 'noRows' }]],
  [
    `url\n${Array.from({ length: MAX_CSV_ROWS + 1 }, (_, nth) => `https://example.org/${nth}`).join('\n')}`,
    [{ problem: 'tooManyRows', max: MAX_CSV_ROWS }],
  ],
])('the list %.20s has problems', (text, problems) => {
  expect(readCsvList(text).problems).toEqual(problems)
})

test('a quotation mark that is not closed is a problem of its row, because it hides the rows after it', () => {
  const { rows } = readCsvList(`url,title\n${URL_A},a\nhttps://example.org/b.mp4,"b\nhttps://example.org/c.mp4,c\n`)
  expect(rows.map(({ problems }) => problems)).toEqual([[], [{ problem: 'badQuotes' }]])
})

test.each([',', ';', '\t'])('two columns and the delimiter %j are enough', (delimiter) => {
  const { problems, rows } = readCsvList(`url${delimiter}title\n${URL_A}${delimiter}"First, second; third"\n`)
  expect([problems, rows.map(({ values }) => values.title)]).toEqual([[], ['First, second; third']])
})

test('a tag with a space is a problem of its row', () => {
  const { rows } = readCsvList(`url;tags\n${URL_A};first day, launch\n`)
  expect(rows[0]?.problems).toEqual([{ problem: 'tagSpace', value: 'first day' }])
})
