import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root, toolEnvironment } from './run-command.ts'

/** What a run of Jest came to. */
export interface JestCounts {
  passed: number
  failed: number
  skipped: number
  /** The names of what failed. */
  failures: string[]
  /** Test files that should have been run and were not. */
  notRun: string[]
  /** Test files that failed beside others, and passed alone. */
  passedAlone: string[]
}

/** The part of Jest's JSON report that is read here. */
export interface JestReport {
  testResults: { name: string; status: string; message: string; assertionResults: { fullName: string; status: string }[] }[]
}

/** Minutes after which a run that hangs is ended. */
const patience = { usual: 70, long: 180 }

/** More failed files than this are no accident of a busy machine: none is run again. */
const mostAgain = 12

/** Which tests are looked for. */
export interface TestQuestion {
  /** Also `*.long.test.ts`. */
  long: boolean
  /**
   * `*.cluster.test.ts`, `*.node.test.ts` or `*.docker.test.ts` and no others, which are left out otherwise: those on a Kubernetes API, on one with a node, and on a
   * Docker daemon.
   */
  on?: 'cluster' | 'node' | 'docker'
  /** Those alone whose path matches one, when there are any. */
  filters: readonly string[]
}

/** The `*.test.ts` of the house. */
export function testFiles({ long, on, filters }: TestQuestion): string[] {
  const patterns = filters.map((filter) => new RegExp(filter))
  return ['apps', 'libs', 'tools', 'test', 'bench', 'deploy']
    .flatMap((folder) => filesBelow(join(root, folder)))
    .filter((file) => file.endsWith('.test.ts') && (long || !file.endsWith('.long.test.ts')))
    .filter((file) => /[.](cluster|node|docker)[.]test[.]ts$/.exec(file)?.[1] === on)
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => pattern.test(relative(root, file))))
    .sort()
}

export interface JestRun {
  files: readonly string[]
  /** They are all there are: Jest finds them itself, and what it passes over is seen. */
  all: boolean
  long: boolean
  /** Files at once; two when not given. What fails of a run of one at a time is not run again. */
  workers?: number
  /** Where Jest writes its report. */
  report: string
}

/**
 * Runs Jest over the files, on two workers or as many as are told; its own words go to the terminal. What failed is run once more, alone and one file after another: a fault
 * fails again, a machine that was too busy does not. Long runs take figures, and are not repeated.
 */
export async function runJest(run: JestRun): Promise<JestCounts> {
  if (run.files.length === 0) return { ...nothing, failed: 1, failures: ['no test file matches'] }
  const first = await runOnce(run, run.workers ?? 2)
  if (typeof first === 'string') return { ...nothing, failed: 1, failures: [first] }
  const failed = first.testResults.filter((file) => file.status === 'failed').map((file) => file.name)
  if (run.long || run.workers === 1 || failed.length === 0 || failed.length > mostAgain) return countTests(first, run.files)
  console.log(`\nOnce more, alone:\n${failed.map((file) => `  ${relative(root, file)}`).join('\n')}`)
  const second = await runOnce({ ...run, files: failed, all: false, report: `${run.report}.again` }, 1)
  return typeof second === 'string' ? countTests(first, run.files) : countTests(withAgain(first, second), run.files, failed)
}

const nothing: JestCounts = { passed: 0, failed: 0, skipped: 0, failures: [], notRun: [], passedAlone: [] }

/** The report, or why there is none. */
async function runOnce({ files, all, long, report }: JestRun, workers: number): Promise<JestReport | string> {
  const flags = ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js']
  const options = ['--config', 'jest.config.mjs', '--ci', `--maxWorkers=${workers}`, '--json', `--outputFile=${report}`]
  const child = spawn(process.execPath, [...flags, ...options, ...(all ? [] : ['--runTestsByPath', ...files])], {
    cwd: root,
    env: { ...toolEnvironment, ...(long ? { VITASCOPE_LONG_TESTS: '1' } : {}) },
    stdio: 'inherit',
  })
  const limit = setTimeout(() => child.kill('SIGKILL'), (long ? patience.long : patience.usual) * 60_000)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(limit)
  if (!existsSync(report)) return `Jest ended with ${code ?? 'a signal'} and no report`
  return JSON.parse(readFileSync(report, 'utf8')) as JestReport
}

/** The report with the second results of the files that were run twice. */
function withAgain(first: JestReport, second: JestReport): JestReport {
  const again = new Map(second.testResults.map((file) => [file.name, file]))
  return { testResults: first.testResults.map((file) => again.get(file.name) ?? file) }
}

/** A file that could not be loaded has no tests to count: it counts as one that failed. */
export function countTests(report: JestReport, files: readonly string[], again: readonly string[] = []): JestCounts {
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
      status === 'passed' && again.includes(name) ? [relative(root, name)] : [],
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
