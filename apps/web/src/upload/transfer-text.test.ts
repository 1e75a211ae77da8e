import { expect, test } from '@jest/globals'
import { createRateMeter, formatBytes, formatTransfer } from './transfer-text.ts'

test.each([
  [1, '1 kB'],
  [830_000, '830 kB'],
  [999_001, '1.0 MB'],
  [12_440_000, '12.4 MB'],
  [999_950_001, '1.00 GB'],
  [3_210_000_000, '3.21 GB'],
])('%d bytes are shown as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))

test.each([
  [0, '0 kB of 100.0 MB'],
  [20e6, '0 kB of 100.0 MB, about 5 seconds left'],
  [1e6, '0 kB of 100.0 MB, about 2 minutes left'],
  [1.7e6, '0 kB of 100.0 MB, about 1 minute left'],
  [10_000, '0 kB of 100.0 MB, about 2.8 hours left'],
])('the transfer text at %d bytes per second has the remaining time', (rate, text) => expect(formatTransfer(0, 100e6, rate)).toBe(text))

test('the rate covers the last 8 seconds, and starts from 0 after an interruption', () => {
  const measureRate = createRateMeter()
  expect(measureRate(50_000, 0)).toBe(0)
  expect(measureRate(51_000, 1_000)).toBe(1_000)
  expect(measureRate(60_000, 20_000)).toBeCloseTo(9_000 / 19, 0)
  expect(measureRate(55_000, 21_000)).toBe(0)
  expect(measureRate(57_000, 22_000)).toBe(2_000)
})
