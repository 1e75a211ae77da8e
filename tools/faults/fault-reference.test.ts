import { expect, test } from '@jest/globals'
import { currentFaultProblems, faultProblems, readFaults, readTags } from './fault-reference.ts'

const FAULTS = readFaults('id,fault,criterion,defence\nB1,"NUL, in texts","400 ""always""",A check\nB2,Surrogates,400,A check\n')

test('reads the rows, with quoted cells', () => {
  expect(FAULTS[0]).toEqual({ id: 'B1', fault: 'NUL, in texts', criterion: '400 "always"', defence: 'A check' })
  expect(() => readFaults('id,fault,criterion,defence\nB1,NUL,400\n')).toThrow('not four cells')
})

test('reads the tags of the first line only', () => {
  expect(readTags('// Faults: B1, B2\nimport')).toEqual(['B1', 'B2'])
  expect(readTags('import\n// Faults: B1\n')).toEqual([])
})

test('reports a fault without a test, and a tag without a fault', () => {
  const tests = new Map([
    ['B1', ['a.test.ts']],
    ['B3', ['b.test.ts']],
  ])
  expect(faultProblems(FAULTS, tests)).toEqual([
    'B2 (Surrogates): no test file names it',
    'B3 is not in tools/faults/faults.csv: b.test.ts',
  ])
})

test('every fault has a test', () => {
  expect(currentFaultProblems()).toEqual([])
})
