import { beforeEach, expect, test } from '@jest/globals'
import { extendTimeout } from '@vitascope/testing'

const limit = 300
/** Waits for longer than the limit, and for much less time than the extended limit. */
const late = () => new Promise((resolve) => setTimeout(resolve, limit + (extendTimeout(limit) - limit) / 6))
let hooks = 0

beforeEach(async () => {
  await late()
  hooks += 1
}, limit)

test.each([1, 2, 3])(
  'the time limits of tests and hooks are extended on a slow machine: run %d',
  async (run) => {
    await late()
    expect(hooks).toBe(run)
  },
  limit,
)
