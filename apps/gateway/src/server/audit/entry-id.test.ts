import { expect, test } from '@jest/globals'
import { createEntryIds, timeOfEntry } from './entry-id.ts'

test('ids are UUIDs of version 7 that stay ordered when the clock goes back', () => {
  let now = Date.UTC(2030, 0, 1)
  const next = createEntryIds(() => now)
  const ids = [next(), next()]
  now += 5
  ids.push(next())
  now -= 1_000
  for (let n = 0; n < 10_000; n++) ids.push(next())
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(timeOfEntry(ids[0] ?? '')).toEqual(new Date(Date.UTC(2030, 0, 1)))
})
