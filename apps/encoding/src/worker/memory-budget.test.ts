import { expect, test } from '@jest/globals'
import { createMemoryBudget } from './memory-budget.ts'

test('no more memory is reserved than is free, and a double release counts once', () => {
  const budget = createMemoryBudget(1_000)
  expect(budget.free()).toBeUndefined()
  const release = budget.reserve(600)
  expect(budget.free()).toBe(400)
  expect(budget.reserve(401)).toBeUndefined()
  const releaseOther = budget.reserve(400)
  expect(budget.free()).toBe(0)
  release?.()
  release?.()
  expect(budget.free()).toBe(600)
  releaseOther?.()
  expect(budget.free()).toBeUndefined()
})

test('a task larger than the budget runs alone', () => {
  const budget = createMemoryBudget(1_000)
  const release = budget.reserve(5_000)
  expect(release).toBeDefined()
  expect(budget.free()).toBe(0)
  expect(budget.reserve(1)).toBeUndefined()
  expect(budget.reserve(0)).toBeDefined()
})
