// Faults: B5
import { expect, test } from '@jest/globals'
import { readPeriod } from './period.ts'

const now = new Date('2026-03-04T23:59:59Z')

test('a period without dates is everything up to today', () => {
  expect(readPeriod(undefined, now)).toEqual({ dateStart: '2012-01-01', dateEnd: '2026-03-04' })
  expect(readPeriod({ dateStart: '2024-02-29', dateEnd: '2024-02-29' }, now)).toEqual({ dateStart: '2024-02-29', dateEnd: '2024-02-29' })
  expect(readPeriod({ dateStart: '2012-01-01', dateEnd: '9999-12-31' }, now).dateEnd).toBe('9999-12-31')
})

test.each(['2012-02-30', '2023-02-29', '2026-13-01', '2026-1-1', '0000-01-01', '20260101', 'today', '2026-01-01 '])(
  '%s is not a date',
  (day) => {
    expect(() => readPeriod({ dateStart: day, dateEnd: '' }, now)).toThrow('date_start')
    expect(() => readPeriod({ dateStart: '', dateEnd: day }, now)).toThrow('date_end')
  },
)

test('an end before the start is rejected', () => {
  expect(() => readPeriod({ dateStart: '2026-01-02', dateEnd: '2026-01-01' }, now)).toThrow('date_end')
  expect(() => readPeriod({ dateStart: '2026-03-05', dateEnd: '' }, now)).toThrow('date_end')
})
