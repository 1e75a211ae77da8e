import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { type BenchFigure, formatGoal, formatValue, isGoalMet } from './figure.ts'
import { drawPlot } from './plot.ts'
import { SUITE } from './suite.ts'

/** Figures of a run, as `bench/results/DATE.json` has them. */
export interface Results {
  /** Day of the run, such as `2026-01-31`. */
  date: string
  machine: Machine
  figures: BenchFigure[]
}

export interface Machine {
  processor: string
  processors: number
  memoryGib: number
  kernel: string
  node: string
}

export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
  }
}

/**
 * Writes the figures as JSON, the table and the plot into the folder. If the files of this day exist, the figures of
 * other benchmarks in them are kept. Returns the path of the table.
 */
export async function writeResults(folder: string, run: Results): Promise<string> {
  await mkdir(folder, { recursive: true })
  const path = (ending: string) => join(folder, `${run.date}.${ending}`)
  const results = { ...run, figures: mergeFigures(await readFigures(path('json')), run.figures) }
  await writeFile(path('json'), `${JSON.stringify(results, null, 2)}\n`)
  await writeFile(path('svg'), drawPlot(results.figures))
  await writeFile(path('md'), formatTable(results))
  return path('md')
}

async function readFigures(file: string): Promise<BenchFigure[]> {
  if (!existsSync(file)) return []
  return (JSON.parse(await readFile(file, 'utf8')) as Results).figures
}

/** Returns the figures in the order of the benchmarks. New figures of a benchmark replace all of its earlier ones. */
export function mergeFigures(earlier: readonly BenchFigure[], figures: readonly BenchFigure[]): BenchFigure[] {
  const measured = new Set(figures.map(({ bench }) => bench))
  const all = [...earlier.filter(({ bench }) => !measured.has(bench)), ...figures]
  const position = ({ bench }: BenchFigure) => SUITE.findIndex((entry) => entry.bench === bench)
  return all.toSorted((a, b) => position(a) - position(b))
}

/** Returns the Markdown page of a run. */
export function formatTable({ date, machine, figures }: Results): string {
  const goals = figures.filter(({ goal }) => goal !== undefined)
  const row = (figure: BenchFigure) => {
    const verdict = figure.goal === undefined ? '' : isGoalMet(figure) ? 'met' : '**not met**'
    return [`${figure.bench} ${figure.row}`, figure.title, formatValue(figure), formatGoal(figure), verdict, figure.detail ?? '']
  }
  const cells = [['benchmark', 'figure', 'value', 'goal', '', 'measured'], ...figures.map(row)]
  const lines = cells.map((line) => `| ${line.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
  lines.splice(1, 0, `|${' --- |'.repeat(6)}`)
  return `# Measurements of ${date}

${machine.processors} processors (${machine.processor}), ${machine.memoryGib} GiB of memory, Linux
${machine.kernel}, Node.js ${machine.node}. The load generators ran on the same processors.

A value is the median of interleaved pairs with its 95 % interval. A goal is met if the
end of the interval that is closer to it reaches it. ${goals.filter(isGoalMet).length} of ${goals.length} goals are met.

![Each figure as a share of its goal](${date}.svg)

${lines.join('\n')}
`
}
