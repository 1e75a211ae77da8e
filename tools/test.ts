import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type CheckResult, contractChecks, lintChecks, runChecks } from './checks.ts'
import { generate } from './generate.ts'
import { type JestCounts, runJest, testFiles } from './jest-run.ts'
import { root } from './run-command.ts'
import { provideTestPrograms } from './test-programs.ts'

// npm test [-- [--long] [path …]]: every check, then every test; with paths, the tests alone whose path matches one.
const args = process.argv.slice(2)
const long = args.includes('--long')
const filters = args.filter((arg) => arg !== '--long')

const folder = mkdtempSync(join(tmpdir(), 'vitascope-npm-test-'))
try {
  const checks = [await generated(), ...(filters.length > 0 ? [] : await runChecks([...lintChecks, ...contractChecks]))]
  const files = testFiles({ long, filters })
  await provideTestPrograms(files)
  const tests = await runJest({ files, all: filters.length === 0, long, report: join(folder, 'report.json') })
  finish(checks, tests)
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

/** The last line counts checks and tests alike. */
function finish(checks: readonly CheckResult[], tests: JestCounts): void {
  for (const file of tests.notRun) console.error(`failed   ${relative(root, file)} was not run`)
  const passed = checks.filter((check) => check.passed && !check.nothing).length + tests.passed
  const failed = checks.filter((check) => !check.passed).length + tests.failed + tests.notRun.length
  if (failed > 0) {
    const names = [...checks.filter((check) => !check.passed).map((check) => check.name), ...tests.failures]
    console.log(`failed:\n${names.map((name) => `  ${name}`).join('\n')}`)
  }
  for (const file of tests.passedAlone) console.log(`passed only when it was run alone: ${file}`)
  console.log(`${passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''}`)
  process.exitCode = failed > 0 ? 1 : 0
}
