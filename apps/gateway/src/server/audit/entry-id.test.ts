import { expect, test } from '@jest/globals'
import { createEntryIds, parseTime } from './entry-id.ts'

test('ids are UUIDs of version 7 that stay ordered when the clock goes back', () => {
  let now = Date.UTC(2030, 0, 1)
  const nextEntryId = createEntryIds(() => now)
  const ids = [nextEntryId(), nextEntryId()]
  now += 5
  ids.push(nextEntryId())
  now -= 1_000
  for (let n = 0; n < 10_000; n++) ids.push(nextEntryId())
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(parseTime(ids[0] ?? '')).toEqual(new Date(Date.UTC(2030, 0, 1)))
})
