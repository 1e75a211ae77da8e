import { expect, test } from '@jest/globals'
import { nextPartBytes } from './part-size.ts'

const MIB = 2 ** 20

test('a part that takes two seconds keeps its size', () => expect(nextPartBytes(MIB, MIB, 2_000)).toBe(MIB))

test('a fast part at most doubles the size, up to 16 MiB', () => {
  expect(nextPartBytes(MIB, MIB, 10)).toBe(2 * MIB)
  expect(nextPartBytes(16 * MIB, 16 * MIB, 10)).toBe(16 * MIB)
})

test('a slow part at most halves the size, down to 256 KiB', () => {
  expect(nextPartBytes(MIB, MIB, 60_000)).toBe(MIB / 2)
  expect(nextPartBytes(MIB / 4, MIB / 4, 60_000)).toBe(MIB / 4)
})

test('a failed part halves the size', () => expect(nextPartBytes(MIB, 0, 0)).toBe(MIB / 2))

test('the rate of a short last part is computed from its own bytes', () => expect(nextPartBytes(8 * MIB, MIB, 250)).toBe(8 * MIB))
