import type { Ratio } from './ratio.ts'

/** A measured value, and the goal that it has to reach. */
export interface Figure {
  /** Short name, unique within the benchmark. */
  row: string
  /** What was measured, and what it was compared with. */
  title: string
  /** Unit of the value, such as `s`. Absent for a ratio. */
  unit?: string
  /**
   * Median with its 95 % interval. Some figures have the fastest and the slowest measurement instead of the interval. A
   * single measurement has three equal numbers.
   */
  value: Ratio
  goal?: { atLeast: number } | { atMost: number }
  /** The measured values behind a ratio, such as `708/s, baseline 3450/s`. */
  detail?: string
}

/** A figure and the benchmark that measured it. */
export type BenchFigure = Figure & { bench: string }

/** Receives each figure of a benchmark as soon as it was measured. */
export type ReportFigure = (figure: Figure) => void

/** Returns the value of a single measurement. */
export function singleValue(value: number): Ratio {
  return { median: value, low: value, high: value }
}

/** Returns true if the better end of the interval reaches the goal, or if the figure has no goal. */
export function isGoalMet({ value, goal }: Figure): boolean {
  if (goal === undefined) return true
  return 'atLeast' in goal ? value.high >= goal.atLeast : value.low <= goal.atMost
}

export function formatFigure(figure: Figure): string {
  const { row, title, detail } = figure
  const goal = formatGoal(figure)
  const verdict = goal === '' ? 'no goal' : `goal ${goal}: ${isGoalMet(figure) ? 'met' : 'NOT met'}`
  return `${row}: ${title}: ${formatValue(figure)}, ${verdict}${detail === undefined ? '' : ` (${detail})`}`
}

/** Returns the median, and the interval unless it is a single number. */
export function formatValue({ value: { median, low, high }, unit }: Figure): string {
  const interval = low === high ? '' : ` [${formatNumber(low)}, ${formatNumber(high)}]`
  return `${formatNumber(median)}${interval}${unit === undefined ? '' : ` ${unit}`}`
}

export function formatGoal({ goal, unit }: Figure): string {
  if (goal === undefined) return ''
  const [sign, limit] = 'atLeast' in goal ? ['≥', goal.atLeast] : ['≤', goal.atMost]
  return `${sign} ${limit}${unit === undefined ? '' : ` ${unit}`}`
}

/** Returns three significant digits below 100, and a whole number from 100. */
function formatNumber(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}
