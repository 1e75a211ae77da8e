import { expect, test } from '@jest/globals'
import { s3Path } from '@vitascope/testing'
import { runOnFaultyStore } from './support/faulty-store-run.ts'

const withS3 = s3Path() === undefined ? test.skip : test

withS3(
  'a minute each of errors, resets and delays, with the default timeouts',
  async () => {
    const { states, decodingErrors } = await runOnFaultyStore({ times: { seconds: 60 }, videos: 3, env: {} })
    expect(states).toEqual(Array(9).fill('ok'))
    expect(decodingErrors).toBe('')
  },
  1_800_000,
)
