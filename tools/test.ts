import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { type CheckResult, contractChecks, lintChecks, runChecks } from './checks.ts'
import { generate } from './lib/generate.ts'
import { isUnitTest, type JestCounts, runJest, testFiles, watchTests } from './lib/jest-run.ts'
import { root } from './lib/run-command.ts'
import { provideTestPrograms } from './lib/test-programs.ts'

/**
 * npm test                              all checks, then all tests
 * npm test -- path … [-t "name"]        the tests of the files whose path matches, without the checks
 * npm test -- path … --watch            the same, again after each change
 * npm run test:unit                     the tests that start no process and open no connection
 * npm run test:long                     also the tests of `*.long.test.ts`
 */
const { values, positionals: filters } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    unit: { type: 'boolean', default: false },
    watch: { type: 'boolean', default: false },
    testNamePattern: { type: 'string', short: 't' },
  },
  allowPositionals: true,
})
const { long, unit, watch, testNamePattern: name } = values
const isPart = unit || watch || filters.length > 0 || name !== undefined

const folder = mkdtempSync(join(tmpdir(), 'vitascope-npm-test-'))
try {
  const checks = [await generated(), ...(isPart ? [] : await runChecks([...lintChecks, ...contractChecks]))]
  const files = testFiles({ long, filters }).filter((file) => !unit || isUnitTest(file))
  await provideTestPrograms(files)
  if (watch) process.exitCode = await watchTests(files, { name, unit })
  else finish(checks, await runJest({ files, all: !isPart, long, unit, name, report: join(folder, 'report.json') }))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function generated(): Promise<CheckResult> {
  const [result] = await runChecks([
    {
      name: 'generated files',
      run: () =>
        generate().then(
          () => ({}),
          (error: Error) => ({ problem: error.message }),
        ),
    },
  ])
  if (!result) throw new Error('the check did not run')
  return result
}

/** Prints the summary. Its last line counts checks and tests together. */
function finish(checks: readonly CheckResult[], tests: JestCounts): void {
  for (const file of tests.notRun) console.error(`failed   ${relative(root, file)} was not run`)
  const passed = checks.filter((check) => check.passed && !check.skipped).length + tests.passed
  const failed = checks.filter((check) => !check.passed).length + tests.failed + tests.notRun.length
  if (failed > 0) {
    const names = [...checks.filter((check) => !check.passed).map((check) => check.name), ...tests.failures]
    console.log(`failed:\n${names.map((name) => `  ${name}`).join('\n')}`)
  }
  for (const file of tests.passedAlone) console.log(`passed only when run alone: ${file}`)
  console.log(`${passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''}`)
  process.exitCode = failed > 0 ? 1 : 0
}
