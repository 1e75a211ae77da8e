import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root, toolEnvironment } from './run-command.ts'

/** Result of a Jest run. */
export interface JestCounts {
  passed: number
  failed: number
  skipped: number
  /** Names of failed tests. */
  failures: string[]
  /** Test files that should have run and did not. */
  notRun: string[]
  /** Test files that failed together with others, and passed alone. */
  passedAlone: string[]
}

/** The part of Jest's JSON report that is used. */
export interface JestReport {
  testResults: { name: string; status: string; message: string; assertionResults: { fullName: string; status: string }[] }[]
}

/** Minutes after which a hanging run is killed. */
const timeoutMinutes = { usual: 120, long: 180 }

/** More failed files than this are not caused by a busy machine, so none is retried. */
const MAX_RETRIED_FILES = 12

/** Selection of tests. */
export interface TestSelection {
  /** Includes `*.long.test.ts`. */
  long: boolean
  /**
   * Selects only `*.cluster.test.ts`, `*.node.test.ts` or `*.docker.test.ts`: tests on a Kubernetes
   * API, on a Kubernetes with a node, or on a Docker daemon. By default they are excluded.
   */
  on?: 'cluster' | 'node' | 'docker'
  /** Only files whose path matches one of these, unless the list is empty. */
  filters: readonly string[]
}

/** Returns the selected `*.test.ts` files of the repository. */
export function testFiles({ long, on, filters }: TestSelection): string[] {
  const patterns = filters.map((filter) => new RegExp(filter))
  return ['apps', 'libs', 'packages', 'e2e', 'tools', 'test', 'bench']
    .flatMap((folder) => filesBelow(join(root, folder)))
    .filter((file) => file.endsWith('.test.ts') && (long || !file.endsWith('.long.test.ts')))
    .filter((file) => /[.](cluster|node|docker)[.]test[.]ts$/.exec(file)?.[1] === on)
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => pattern.test(relative(root, file))))
    .sort()
}

/**
 * Returns true for a unit test. It lies next to the tested file and uses only this process: no
 * database, server, program, browser or thread.
 */
export function isUnitTest(file: string): boolean {
  return /\/(apps|libs)\/[^/]+\/src\//.test(file) && !NEEDS_MORE.test(readFileSync(file, 'utf8'))
}

/** Matches tests that use a database, another process, a socket or a running service. */
const NEEDS_MORE =
  /createTestDatabase|\bstart[A-Z]\w*\(|\bspawn|execFile|createServer|createConnection|initDatabase|Worker\(|child_process|node:net|node:http|node:worker_threads|playwright|probe\(|\/test\//

export interface JestRun {
  files: readonly string[]
  /**
   * True if these are all test files. Jest then searches for them itself, so that a file that it
   * misses is detected.
   */
  all: boolean
  long: boolean
  /** Unit tests only. PostgreSQL is not started. */
  unit?: boolean
  /**
   * Runs only tests whose full name matches this regular expression. The others count neither as
   * skipped nor as missing.
   */
  name?: string | undefined
  /** Number of concurrent files, two by default. With one, failed files are not retried. */
  workers?: number
  /** Path of the file to which tests append the figures that they measure. */
  figuresFile?: string
  /** Path of Jest's report. */
  report: string
}

/**
 * Runs Jest on the files, with its output on the terminal. Failed files are retried once, alone and
 * one after another, which separates real faults from tests that depend on the load of the machine.
 * In CI (variable `CI`) the latter are failures too. Long runs measure, and are not retried.
 */
export async function runJest(run: JestRun): Promise<JestCounts> {
  if (run.files.length === 0) return { ...NO_TESTS, failed: 1, failures: ['no test file matches'] }
  const first = await runOnce(run, run.workers ?? 2)
  if (typeof first === 'string') return { ...NO_TESTS, failed: 1, failures: [first] }
  const failed = first.testResults.filter((file) => file.status === 'failed').map((file) => file.name)
  if (run.long || run.workers === 1 || failed.length === 0 || failed.length > MAX_RETRIED_FILES)
    return adjustForName(run, countTests(first, run.files))
  console.log(`\nRetried alone:\n${failed.map((file) => `  ${relative(root, file)}`).join('\n')}`)
  const second = await runOnce({ ...run, files: failed, all: false, report: `${run.report}.retried` }, 1)
  const counts = typeof second === 'string' ? countTests(first, run.files) : countTests(withRetryResults(first, second), run.files, failed)
  return adjustForName(run, process.env['CI'] ? failRetried(counts) : counts)
}

/** Adds a failure for each file that passed only when it ran alone. */
export function failRetried(counts: JestCounts): JestCounts {
  const failures = counts.passedAlone.map((file) => `${file}: passed only when run alone`)
  return { ...counts, failed: counts.failed + failures.length, failures: [...counts.failures, ...failures] }
}

/**
 * Adjusts the counts if tests are selected by name. Jest reports the others as skipped. A name that
 * matches no test is a failure.
 */
function adjustForName({ name }: JestRun, counts: JestCounts): JestCounts {
  if (name === undefined) return counts
  if (counts.passed + counts.failed === 0) return { ...NO_TESTS, failed: 1, failures: [`no test has a name that matches ${name}`] }
  return { ...counts, skipped: 0, notRun: [] }
}

const NO_TESTS: JestCounts = { passed: 0, failed: 0, skipped: 0, failures: [], notRun: [], passedAlone: [] }

/** Returns the report, or the reason why there is none. */
async function runOnce(run: JestRun, workers: number): Promise<JestReport | string> {
  const { files, all, long, unit = false, name, figuresFile, report } = run
  const options = ['--ci', `--maxWorkers=${workers}`, '--json', `--outputFile=${report}`]
  const child = spawnJest([...options, ...nameOption(name), ...(all ? [] : ['--runTestsByPath', ...files])], { long, unit, figuresFile })
  const limit = setTimeout(() => child.kill('SIGKILL'), (long ? timeoutMinutes.long : timeoutMinutes.usual) * 60_000)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(limit)
  if (!existsSync(report)) return `Jest ended with ${code ?? 'a signal'} and no report`
  return JSON.parse(readFileSync(report, 'utf8')) as JestReport
}

/** Runs the tests, and again after each change, until it is interrupted. Returns the exit code. */
export async function watchTests(files: readonly string[], { name, unit }: { name: string | undefined; unit: boolean }): Promise<number> {
  const child = spawnJest(['--watchAll', ...nameOption(name), '--runTestsByPath', ...files], { long: false, unit, figuresFile: undefined })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

const nameOption = (name: string | undefined): string[] => (name === undefined ? [] : ['--testNamePattern', name])

interface JestEnvironment {
  long: boolean
  unit: boolean
  figuresFile: string | undefined
}

function spawnJest(options: readonly string[], { long, unit, figuresFile }: JestEnvironment): ChildProcess {
  const jest = ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js']
  return spawn(process.execPath, [...jest, '--config', 'jest.config.mjs', ...options], {
    cwd: root,
    env: {
      ...toolEnvironment,
      ...(long && { VITASCOPE_LONG_TESTS: '1' }),
      ...(unit && { VITASCOPE_UNIT_TESTS: '1' }),
      ...(figuresFile && { VITASCOPE_FIGURES_FILE: figuresFile }),
    },
    stdio: 'inherit',
  })
}

/** Returns the report with the second results of retried files. */
function withRetryResults(first: JestReport, second: JestReport): JestReport {
  const secondResults = new Map(second.testResults.map((file) => [file.name, file]))
  return { testResults: first.testResults.map((file) => secondResults.get(file.name) ?? file) }
}

/**
 * Returns the counts of a report. A file that could not be loaded has no tests, so it counts as one
 * failed test.
 */
export function countTests(report: JestReport, files: readonly string[], retried: readonly string[] = []): JestCounts {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  )
  const failed = report.testResults.flatMap((file) =>
    file.assertionResults.filter((test) => test.status === 'failed').map((test) => `${relative(root, file.name)}: ${test.fullName}`),
  )
  const run = new Set(
    report.testResults.filter((file) => file.assertionResults.length > 0 || file.status === 'failed').map((file) => file.name),
  )
  const statuses = report.testResults.flatMap((file) => file.assertionResults.map((test) => test.status))
  return {
    passed: statuses.filter((status) => status === 'passed').length,
    failed: failed.length + broken.length,
    skipped: statuses.filter((status) => status === 'pending' || status === 'todo' || status === 'skipped').length,
    failures: [...broken.map((file) => relative(root, file.name)), ...failed],
    notRun: files.filter((file) => !run.has(file)),
    passedAlone: report.testResults.flatMap(({ name, status }) =>
      status === 'passed' && retried.includes(name) ? [relative(root, name)] : [],
    ),
  }
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : filesBelow(join(folder, entry.name))
    return [join(folder, entry.name)]
  })
}
