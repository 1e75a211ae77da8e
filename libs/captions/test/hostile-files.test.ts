// Faults: B14
import { expect, test } from '@jest/globals'
import { isDomainError } from '@vitascope/errors'
import { decodeText, plainText, readCaptions } from '../src/index.ts'
import { HOSTILE_FILES } from './hostile-files.ts'

test.each(HOSTILE_FILES)('reads %s in 200 ms', (_, format, make) => {
  const bytes = Buffer.from(make())
  expect(bytes.length).toBeLessThanOrEqual(5 * 2 ** 20)
  const start = process.threadCpuUsage()
  try {
    plainText(readCaptions(decodeText(bytes), format))
  } catch (error) {
    if (!isDomainError(error)) throw error
  }
  const { user, system } = process.threadCpuUsage(start)
  // CPU time of this thread only; on a busy machine the wall time was more than four times as long.
  expect((user + system) / 1_000).toBeLessThan(2_000)
})
