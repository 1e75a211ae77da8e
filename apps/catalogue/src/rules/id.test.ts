import { expect, test } from '@jest/globals'
import { isId } from '@vitascope/request'
import { newRandomId } from './id.ts'

test('random ids are valid and use the whole range', () => {
  const ids = Array.from({ length: 1_000 }, newRandomId)
  expect(ids.every(isId)).toBe(true)
  expect(new Set(ids).size).toBe(1_000)
  expect(ids.some((id) => BigInt(id) > 2n ** 62n)).toBe(true)
})
