import { expect, test } from '@jest/globals'
import { countTests, failRetried, isUnitTest, type JestReport, testFiles } from './jest-run.ts'

const buildFile = (name: string, status: string, tests: string[]) => ({
  name,
  status,
  message: '',
  assertionResults: tests.map((state, at) => ({ fullName: `test ${at}`, status: state })),
})

test('counts tests, and counts a file that could not be loaded as one failed test', () => {
  const report: JestReport = {
    testResults: [
      buildFile('/a.test.ts', 'passed', ['passed', 'pending']),
      buildFile('/b.test.ts', 'failed', ['passed', 'failed']),
      buildFile('/c.test.ts', 'failed', []),
    ],
  }
  const counts = countTests(report, ['/a.test.ts', '/b.test.ts', '/c.test.ts'])
  expect(counts).toMatchObject({ passed: 2, failed: 2, skipped: 1, notRun: [] })
  expect(counts.failures).toHaveLength(2)
})

test('reports a test file that Jest did not run', () => {
  const report: JestReport = { testResults: [buildFile('/a.test.ts', 'passed', ['passed']), buildFile('/empty.test.ts', 'passed', [])] }
  expect(countTests(report, ['/a.test.ts', '/empty.test.ts', '/lost.test.ts']).notRun).toEqual(['/empty.test.ts', '/lost.test.ts'])
})

test('reports a failed file that passed alone', () => {
  const report: JestReport = {
    testResults: [buildFile('/a.test.ts', 'passed', ['passed']), buildFile('/b.test.ts', 'failed', ['failed'])],
  }
  const counts = countTests(report, ['/a.test.ts', '/b.test.ts'], ['/a.test.ts', '/b.test.ts'])
  expect(counts.passedAlone).toEqual([expect.stringMatching(/a[.]test[.]ts$/)])
  expect(counts.failed).toBe(1)
  expect(failRetried(counts)).toMatchObject({ passed: 1, failed: 2 })
  expect(failRetried(counts).failures[1]).toMatch(/a[.]test[.]ts: passed only when run alone$/)
})

test('long tests are selected only on request, and filters select files by path', () => {
  const usual = testFiles({ long: false, filters: [] })
  expect(usual.some((file) => file.endsWith('tools/lib/jest-run.test.ts'))).toBe(true)
  expect(usual.some((file) => file.endsWith('.long.test.ts'))).toBe(false)
  expect(testFiles({ long: true, filters: [] }).length).toBeGreaterThanOrEqual(usual.length)
  expect(testFiles({ long: false, filters: ['tools/lib/jest-run'] })).toHaveLength(1)
  for (const on of ['cluster', 'node'] as const) {
    const files = testFiles({ long: false, on, filters: [] })
    expect(files.length).toBeGreaterThan(0)
    expect(files.every((file) => file.endsWith(`.${on}.test.ts`))).toBe(true)
    expect(usual.filter((file) => files.includes(file))).toEqual([])
  }
})

test('unit tests are the tests next to the code that start no process', () => {
  const units = testFiles({ long: false, filters: [] }).filter(isUnitTest)
  expect(units.length).toBeGreaterThan(100)
  expect(units.filter((file) => file.endsWith('libs/errors/src/domain-error.test.ts'))).toHaveLength(1)
  expect(units.filter((file) => file.endsWith('libs/queue/src/create-queue.test.ts'))).toEqual([])
  expect(units.filter((file) => file.includes('/test/'))).toEqual([])
})
