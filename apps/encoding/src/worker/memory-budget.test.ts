import { expect, test } from '@jest/globals'
import { createMemoryBudget } from './memory-budget.ts'

test('a reservation is released once, and no more is reserved than is free', () => {
  const room = createMemoryBudget(1_000)
  expect(room.free()).toBeUndefined()
  const release = room.take(600)
  expect(room.free()).toBe(400)
  expect(room.take(401)).toBeUndefined()
  const other = room.take(400)
  expect(room.free()).toBe(0)
  release?.()
  release?.()
  expect(room.free()).toBe(600)
  other?.()
  expect(room.free()).toBeUndefined()
})

test('a task larger than the budget runs alone', () => {
  const room = createMemoryBudget(1_000)
  const release = room.take(5_000)
  expect(release).toBeDefined()
  expect(room.free()).toBe(0)
  expect(room.take(1)).toBeUndefined()
  expect(room.take(0)).toBeDefined()
})
