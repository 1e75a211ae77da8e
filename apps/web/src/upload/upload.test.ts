import { expect, test } from '@jest/globals'
import { createRateMeter, formatBytes, formatTransfer } from './transfer-text.ts'
import { readProblem } from './tus-request.ts'
import { formatMetadata } from './tus-upload.ts'

test.each([
  [1, '1 kB'],
  [830_000, '830 kB'],
  [12_440_000, '12.4 MB'],
  [3_210_000_000, '3.21 GB'],
])('%d bytes are shown as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))

test.each([
  [0, 'of 100.0 MB'],
  [20e6, 'of 100.0 MB, about 5 s left'],
  [1e6, 'of 100.0 MB, about 2 min left'],
  [10_000, 'of 100.0 MB, about 2.8 h left'],
])('the transfer text at %d bytes per second has the remaining time', (rate, text) =>
  expect(formatTransfer(0, 100e6, rate)).toContain(text),
)

test('the rate covers the last seconds, and starts from 0 after an interruption', () => {
  const measureRate = createRateMeter()
  expect(measureRate(50_000, 0)).toBe(0)
  expect(measureRate(51_000, 1_000)).toBe(1_000)
  expect(measureRate(60_000, 20_000)).toBeCloseTo(9_000 / 19, 0)
  expect(measureRate(55_000, 21_000)).toBe(0)
  expect(measureRate(57_000, 22_000)).toBe(2_000)
})

test('metadata omits empty values and encodes any characters', () => {
  const header = formatMetadata({ filename: 'Café 🎬.mp4', title: '', organisation_id: '2' })
  expect(header).toBe(`filename ${Buffer.from('Café 🎬.mp4').toString('base64')},organisation_id Mg==`)
})

test('a problem becomes one sentence with the invalid fields and their messages, or with the detail', () => {
  const message = 'must have organisation_id with a system key'
  const problem = { detail: `Upload-Metadata: ${message}`, errors: [{ field: 'Upload-Metadata', message }] }
  expect(readProblem(JSON.stringify(problem))).toBe(`Upload-Metadata: ${message}`)
  const twoErrors = {
    detail: 'bad fields: a, b',
    errors: [
      { field: 'a', message: 'is required' },
      { field: 'b', message: 'must be a text' },
    ],
  }
  expect(readProblem(JSON.stringify(twoErrors))).toBe('a: is required; b: must be a text')
  expect(readProblem('{"detail":"too large"}')).toBe('too large')
  expect(readProblem('<html>')).toBe('')
})
