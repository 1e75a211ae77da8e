import { expect, test } from '@jest/globals'
import { type BenchFigure, singleValue } from './figure.ts'
import { drawPlot } from './plot.ts'
import { formatTable, mergeFigures } from './results.ts'

const figures: BenchFigure[] = [
  {
    bench: 'reads',
    row: 'guest',
    title: 'reads by guests',
    value: { median: 1.1, low: 0.9, high: 1.3 },
    goal: { atLeast: 1 },
    detail: '11/s | 10/s',
  },
  { bench: 'start', row: 'ready', title: 'second start', unit: 's', value: singleValue(60), goal: { atMost: 6 } },
  { bench: 'audit', row: 'one', title: 'with the audit log', value: singleValue(0.8) },
]
const machine = { processor: 'Example', processors: 2, memoryGib: 8, kernel: '6.1', node: 'v24.0.0' }

test('the table has every figure, and shows which goals are met', () => {
  const table = formatTable({ date: '2026-01-31', machine, figures })
  expect(table).toContain('| reads guest | reads by guests | 1.1 [0.9, 1.3] | ≥ 1 | met | 11/s \\| 10/s |')
  expect(table).toContain('| start ready | second start | 60 s | ≤ 6 s | **not met** |  |')
  expect(table).toContain('| audit one | with the audit log | 0.8 |  |  |  |')
  expect(table).toContain('1 of 2 goals are met')
})

test('the plot has a line for each figure with a goal, on the right if the goal is met', () => {
  const plot = drawPlot(figures)
  expect(plot.match(/<circle cx="\d+"/g)).toHaveLength(2)
  const middle = (280 + 820) / 2
  const [met = 0, missed = 0] = [...plot.matchAll(/<circle cx="(\d+)"/g)].map(([, x]) => Number(x))
  expect(met).toBeGreaterThan(middle)
  // A tenth of the goal is at the left end.
  expect(missed).toBe(280)
})

test('new figures of a benchmark replace its earlier ones, and others are kept in the order of the suite', () => {
  const figure = (bench: string, row: string): BenchFigure => ({ bench, row, title: '', value: singleValue(1) })
  const merged = mergeFigures([figure('encode', 'cpu'), figure('reads', 'old'), figure('reads', 'gone')], [figure('reads', 'new')])
  expect(merged.map(({ bench, row }) => `${bench} ${row}`)).toEqual(['reads new', 'encode cpu'])
})
