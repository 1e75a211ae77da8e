import { expect, test } from '@jest/globals'
import { formatResults, mergeResults, readRecords, readResults, summariseResults, testResults } from './figures.ts'

const crash = { test: 'e2e/crash.test.ts', ids: ['C1', 'C6'] }
const queue = { test: 'libs/queue/queue.test.ts', ids: ['C6'] }
const result = (id: string, { test }: { test: string }, figure: string, passed = true) => ({ id, test, figure, passed })

test('parses the rows that it wrote', () => {
  const results = [result('C1', crash, '3 kills, "all" recovered'), result('C6', queue, '', false)]
  expect(readResults(formatResults(results))).toEqual(results)
  expect(() => readResults('id,test,figure,passed\nC1,a.test.ts,,maybe\n')).toThrow('not a row of figures.csv: C1,a.test.ts,,maybe')
  expect(() => readResults('id,test,figure,passed\nC1,a.test.ts,yes\n')).toThrow('not a row')
})

test('parses recorded figures, without repetitions', () => {
  const lines = [
    { id: 'C1', figure: '3 kills' },
    { id: 'C6', figure: '2 s' },
    { id: 'C1', figure: '0 objects left' },
    { id: 'C1', figure: '3 kills' },
  ].map((line) => `${JSON.stringify(line)}\n`)
  expect(readRecords(lines.join(''))).toEqual(
    new Map([
      ['C1', ['3 kills', '0 objects left']],
      ['C6', ['2 s']],
    ]),
  )
  expect(readRecords('')).toEqual(new Map())
  expect(() => readRecords(`${JSON.stringify({ id: 'C1', figure: 'a|b' })}\n`)).toThrow('must not contain')
})

test('returns a result for each fault of a test file, with its figures', () => {
  const records = '{"id":"C1","figure":"3 kills"}\n{"id":"C1","figure":"0 objects left"}\n'
  expect(testResults(crash, { passed: true, records })).toEqual([result('C1', crash, '3 kills; 0 objects left'), result('C6', crash, '')])
  expect(() => testResults(queue, { passed: true, records })).toThrow('libs/queue/queue.test.ts does not name C1')
})

test('keeps the results of files that did not run, and removes those without a tag', () => {
  const previous = [result('C1', crash, 'old'), result('C6', queue, '5 s'), result('C6', { test: 'gone.test.ts' }, '')]
  const next = [result('C1', crash, 'new'), result('C6', crash, '', false)]
  expect(mergeResults(previous, next, { faultIds: ['C1', 'C6'], tests: [crash, queue] })).toEqual([
    result('C1', crash, 'new'),
    result('C6', crash, '', false),
    result('C6', queue, '5 s'),
  ])
})

test('summarises the results of all test files of a fault', () => {
  const results = [result('C6', crash, '2 s'), result('C6', queue, '5 s')]
  expect(summariseResults(results, 2)).toEqual({ figure: '2 s; 5 s', result: 'passed' })
  expect(summariseResults(results, 3)).toEqual({ figure: '2 s; 5 s', result: 'passed (2 of 3 files)' })
  expect(summariseResults([result('C6', crash, '', false)], 1)).toEqual({ figure: '', result: 'failed' })
  expect(summariseResults([], 1)).toEqual({ figure: '', result: '' })
})
