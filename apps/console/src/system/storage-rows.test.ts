import { expect, test } from '@jest/globals'
import { selectRows, sumRows, usedShare } from './storage-rows.ts'

const rows = [
  { id: '1', name: 'Beta', bytes: 50, reserved: 0, quota: undefined },
  { id: '2', name: 'alpha', bytes: 80, reserved: 15, quota: 100 },
  { id: '3', name: 'Gamma', bytes: 900, reserved: 0, quota: 1_000 },
  { id: '4', name: 'Delta', bytes: 0, reserved: 0, quota: 0 },
]
const idsBy = (order: 'bytes' | 'used' | 'name', text = '') => selectRows(rows, order, text).map(({ id }) => id)

test('organisations are ordered by their bytes, by the used share of their quota, and by name', () => {
  expect(idsBy('bytes')).toEqual(['3', '2', '1', '4'])
  expect(idsBy('used')).toEqual(['4', '2', '3', '1'])
  expect(idsBy('name')).toEqual(['2', '1', '4', '3'])
})

test('organisations are found by a part of the name and by their id', () => {
  expect(idsBy('bytes', ' ALPHA ')).toEqual(['2'])
  expect(idsBy('bytes', '3')).toEqual(['3'])
  expect(idsBy('bytes', 'omega')).toEqual([])
})

test('reservations count against a quota, and a quota of nothing is full', () => {
  expect(rows.map(usedShare)).toEqual([undefined, 0.95, 0.9, 1])
  expect(sumRows(rows)).toEqual({ bytes: 1_030, reserved: 15, quota: 1_100, unlimited: 1, nearlyFull: 3 })
  expect(sumRows([])).toEqual({ bytes: 0, reserved: 0, quota: 0, unlimited: 0, nearlyFull: 0 })
})
