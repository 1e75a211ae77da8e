// Faults: C19
import { expect, test } from '@jest/globals'
import { s3Path } from '@vitascope/testing'
import { runOnFaultyStore } from './support/faulty-store-run.ts'

const withS3 = s3Path() === undefined ? test.skip : test
const TIMES = { VITASCOPE_LEASE_MS: '5000', VITASCOPE_RECONCILE_MS: '500', VITASCOPE_RETRY_MS: '200' }

withS3(
  'a store that fails, resets connections and is slow delays videos, loses none, and keeps no broken file',
  async () => {
    const { states, decodingErrors } = await runOnFaultyStore({ times: { requests: 4 }, videos: 1, env: TIMES })
    expect(states).toEqual(['ok', 'ok', 'ok'])
    expect(decodingErrors).toBe('')
  },
  600_000,
)
