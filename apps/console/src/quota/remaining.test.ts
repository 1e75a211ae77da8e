import { expect, test } from '@jest/globals'
import { findTooLarge, hasMinutesLeft, remainingBytes } from './remaining.ts'

const usage = { bytes: '600', bytes_reserved: '100', minutes_this_month: '9.5', minutes_reserved: '0.4', jobs: '1' }
const unlimited = { bytes: null, minutes_per_month: null, concurrent_jobs: null }

test('reservations count against the quota', () => {
  expect(remainingBytes({ quota: { ...unlimited, bytes: '1000' }, usage })).toBe(300)
  expect(remainingBytes({ quota: { ...unlimited, bytes: '500' }, usage })).toBe(0)
  expect(hasMinutesLeft({ quota: { ...unlimited, minutes_per_month: '10' }, usage })).toBe(true)
  expect(hasMinutesLeft({ quota: { ...unlimited, minutes_per_month: '9' }, usage })).toBe(false)
})

test('an organisation without limits can upload everything', () => {
  expect([remainingBytes({ quota: unlimited, usage }), hasMinutesLeft({ quota: unlimited, usage })]).toEqual([undefined, true])
})

test('a file that does not fit leaves its place to smaller ones', () => {
  const files = [{ size: 60 }, { size: 50 }, { size: 40 }, { size: 1 }]
  expect(findTooLarge(files, 100)).toEqual([{ size: 50 }, { size: 1 }])
})
