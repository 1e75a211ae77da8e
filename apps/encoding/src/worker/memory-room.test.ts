import { expect, test } from '@jest/globals'
import { createMemoryRoom } from './memory-room.ts'

test('what is taken is given back once, and no more is taken than is free', () => {
  const room = createMemoryRoom(1_000)
  expect(room.free()).toBeUndefined()
  const giveBack = room.take(600)
  expect(room.free()).toBe(400)
  expect(room.take(401)).toBeUndefined()
  const other = room.take(400)
  expect(room.free()).toBe(0)
  giveBack?.()
  giveBack?.()
  expect(room.free()).toBe(600)
  other?.()
  expect(room.free()).toBeUndefined()
})

test('a task that is larger than all of it is done alone', () => {
  const room = createMemoryRoom(1_000)
  const giveBack = room.take(5_000)
  expect(giveBack).toBeDefined()
  expect(room.free()).toBe(0)
  expect(room.take(1)).toBeUndefined()
  expect(room.take(0)).toBeDefined()
})
