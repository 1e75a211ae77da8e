import { expect, test } from '@jest/globals'
import { encodePageToken } from '@vitascope/request'
import { readTimeToken, writeTimeToken } from './time-token.ts'

test('a token contains the time and the id of a row', () => {
  const position = { createTime: new Date('2026-01-31T12:00:00.123Z'), id: '7' }
  expect(readTimeToken(writeTimeToken(position))).toEqual(position)
})

test('the first page starts before all rows', () => {
  expect(readTimeToken('')).toEqual({ createTime: new Date(0), id: '0' })
})

const malformed = [['1'], ['x', '7'], ['1', '0'], ['1'.repeat(16), '7'], ['1', '7', '7']]
test.each(['x', ...malformed.map((values) => encodePageToken(values))])('the token %j is rejected', (token) => {
  expect(() => readTimeToken(token)).toThrow('page_token')
})
