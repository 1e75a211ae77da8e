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
}

/** The part of Jest's JSON report that is read here. */
export interface JestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { name: string; status: string; message: string; assertionResults: { fullName: string; status: string }[] }[]
}

/** Minutes after which a run that hangs is ended. */
const patience = { usual: 45, long: 180 }

/** Every `*.test.ts` of the house, `*.long.test.ts` only when asked for, those of the filters alone when there are any. */
export function testFiles({ long, filters }: { long: boolean; filters: readonly string[] }): string[] {
  const patterns = filters.map((filter) => new RegExp(filter))
  return ['apps', 'libs', 'tools', 'test', 'bench']
    .flatMap((folder) => filesBelow(join(root, folder)))
    .filter((file) => file.endsWith('.test.ts') && (long || !file.endsWith('.long.test.ts')))
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => pattern.test(relative(root, file))))
    .sort()
}

export interface JestRun {
  files: readonly string[]
  /** They are all there are: Jest finds them itself, and what it passes over is seen. */
  all: boolean
  long: boolean
  /** Where Jest writes its report. */
  report: string
}

/** Runs Jest once over the files, on two workers; its own words go to the terminal. */
export async function runJest({ files, all, long, report }: JestRun): Promise<JestCounts> {
  if (files.length === 0) return { passed: 0, failed: 1, skipped: 0, failures: ['no test file matches'], notRun: [] }
  const flags = ['--disable-warning=ExperimentalWarning', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js']
  const options = ['--config', 'jest.config.mjs', '--ci', '--maxWorkers=2', '--json', `--outputFile=${report}`]
  const child = spawn(process.execPath, [...flags, ...options, ...(all ? [] : ['--runTestsByPath', ...files])], {
    cwd: root,
    env: { ...toolEnvironment, ...(long ? { VITASCOPE_LONG_TESTS: '1' } : {}) },
    stdio: 'inherit',
  })
  const limit = setTimeout(() => child.kill('SIGKILL'), (long ? patience.long : patience.usual) * 60_000)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(limit)
  if (!existsSync(report))
    return { passed: 0, failed: 1, skipped: 0, failures: [`Jest ended with ${code ?? 'a signal'} and no report`], notRun: [] }
  return countTests(JSON.parse(readFileSync(report, 'utf8')) as JestReport, files)
}

/** A file that could not be loaded has no tests to count: it counts as one that failed. */
export function countTests(report: JestReport, files: readonly string[]): JestCounts {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  )
  const failed = report.testResults.flatMap((file) =>
    file.assertionResults.filter((test) => test.status === 'failed').map((test) => `${relative(root, file.name)}: ${test.fullName}`),
  )
  const run = new Set(
    report.testResults.filter((file) => file.assertionResults.length > 0 || file.status === 'failed').map((file) => file.name),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [...broken.map((file) => relative(root, file.name)), ...failed],
    notRun: files.filter((file) => !run.has(file)),
  }
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : filesBelow(join(folder, entry.name))
    return [join(folder, entry.name)]
  })
}
