import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type BenchFigure, type Figure, formatFigure, isGoalMet, type ReportFigure } from './figure.ts'
import { describeMachine, writeResults } from './results.ts'
import { SUITE } from './suite.ts'

// npm run bench -- NAME [options]: runs bench/NAME/index.ts.
// npm run bench [-- --pairs N]: runs all benchmarks with performance targets, and writes bench/results/DATE.*.
// Run nothing else at the same time.
const folder = new URL('.', import.meta.url)
const args = process.argv.slice(2)
const entries = await readdir(folder, { withFileTypes: true })
const names = entries.filter((entry) => entry.isDirectory() && entry.name !== 'results').map((entry) => entry.name)

const [name = '', ...options] = args
if (name === '' || name.startsWith('-')) process.exitCode = await runSuite(args)
else if (names.includes(name)) process.exitCode = (await runBench(name, options)).every(isGoalMet) ? 0 : 1
else {
  console.error(`usage: npm run bench -- [NAME] [options], with NAME one of: ${names.join(', ')}`)
  process.exitCode = 2
}

async function runBench(bench: string, benchOptions: readonly string[]): Promise<Figure[]> {
  const module = (await import(new URL(`${bench}/index.ts`, folder).href)) as {
    bench(options: readonly string[], report: ReportFigure): Promise<void>
  }
  const figures: Figure[] = []
  await module.bench(benchOptions, (figure) => {
    figures.push(figure)
    console.log(formatFigure(figure))
  })
  // Only processes of `runInProcess` have this channel.
  process.send?.(figures)
  if (process.connected) process.disconnect()
  return figures
}

/**
 * Runs a benchmark in a process of its own and returns its figures. Benchmarks pin their process to some processors, which
 * must not affect the next ones. Throws if the process ends without figures.
 */
async function runInProcess(bench: string, benchOptions: readonly string[]): Promise<Figure[]> {
  const child = fork(fileURLToPath(import.meta.url), [bench, ...benchOptions])
  let figures: Figure[] | undefined
  child.on('message', (sent) => {
    figures = sent as Figure[]
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  if (!figures) throw new Error(`it ended with ${signal ?? code}`)
  return figures
}

/** Runs every benchmark, also after one that failed. Returns the exit code. */
async function runSuite(suiteArgs: string[]): Promise<number> {
  const { values } = parseArgs({ args: suiteArgs, options: { pairs: { type: 'string' }, only: { type: 'string' } } })
  const only = values.only?.split(',')
  const figures: BenchFigure[] = []
  const failed: string[] = []
  const began = performance.now()
  const date = new Date().toISOString().slice(0, 10)
  const results = fileURLToPath(new URL('results', folder))
  let table = results
  for (const { bench, options: own, hasPairs } of SUITE.filter((entry) => only === undefined || only.includes(entry.bench))) {
    console.log(`\n${bench} (${minutesSince(began)} min)`)
    const pairs = hasPairs && values.pairs !== undefined ? ['--pairs', values.pairs] : []
    try {
      const measured = (await runInProcess(bench, [...own, ...pairs])).map((figure) => ({ bench, ...figure }))
      // Written after each benchmark, so that an interrupted run keeps its figures.
      table = await writeResults(results, { date, machine: describeMachine(), figures: measured })
      figures.push(...measured)
    } catch (error) {
      failed.push(bench)
      console.error(`${bench} failed:`, error)
    }
  }
  const missed = figures.filter((figure) => !isGoalMet(figure))
  console.log(
    `\n${figures.length} figures in ${minutesSince(began)} min, ${missed.length} goals not met, ${failed.length} benchmarks failed: ${table}`,
  )
  return missed.length === 0 && failed.length === 0 ? 0 : 1
}

function minutesSince(began: number): string {
  return ((performance.now() - began) / 60_000).toFixed(0)
}
