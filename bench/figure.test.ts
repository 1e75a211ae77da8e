import { describe, expect, test } from '@jest/globals'
import { type Figure, formatFigure, isGoalMet, singleValue } from './figure.ts'

const ratio = { row: 'guest', title: 'reads by guests', value: { median: 0.95, low: 0.9, high: 1.02 } }

describe('whether a goal is met', () => {
  test.each<[string, Figure, boolean]>([
    ['at least, reached by the upper end', { ...ratio, goal: { atLeast: 1 } }, true],
    ['at least, above the interval', { ...ratio, goal: { atLeast: 1.03 } }, false],
    ['at most, reached by the lower end', { ...ratio, goal: { atMost: 0.91 } }, true],
    ['at most, below the interval', { ...ratio, goal: { atMost: 0.89 } }, false],
    ['no goal', ratio, true],
    ['not a number', { ...ratio, value: singleValue(Number.NaN), goal: { atMost: 1 } }, false],
  ])('%s', (_, figure, expected) => {
    expect(isGoalMet(figure)).toBe(expected)
  })
})

test('a figure is printed with its interval, goal and details', () => {
  expect(formatFigure({ ...ratio, goal: { atLeast: 1 }, detail: '950/s, baseline 1000/s' })).toBe(
    'guest: reads by guests: 0.95 [0.9, 1.02], goal ≥ 1: met (950/s, baseline 1000/s)',
  )
  const start = { row: 'ready', title: 'second start', unit: 's', value: singleValue(7.1234), goal: { atMost: 6 } }
  expect(formatFigure(start)).toBe('ready: second start: 7.12 s, goal ≤ 6 s: NOT met')
})
