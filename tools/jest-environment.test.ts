import { beforeEach, expect, test } from '@jest/globals'
import { extendTimeout } from '@vitascope/testing'

const limit = 100
const late = () => new Promise((resolve) => setTimeout(resolve, extendTimeout(limit) / 2))
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
