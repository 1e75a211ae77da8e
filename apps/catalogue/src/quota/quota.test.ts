import { describe, expect, test } from '@jest/globals'
import { ESTIMATE, findOverrun, MINUTE_MS, planReservation, type Usage } from './quota.ts'

const none: Usage = { bytes: 0, reservedBytes: 0, ms: 0, reservedMs: 0, jobs: 0 }
const source = { bytes: 0, releasedBytes: 0, isEncoded: true }
const GIB = 1024 ** 3

describe('work is admitted', () => {
  test('without a quota, and the estimate is reserved', () => {
    expect(planReservation({}, { ...none, jobs: 9_999, bytes: 9 * GIB }, source)).toEqual({ ...ESTIMATE })
  })
  test('with the remaining quota reserved if it is less than the estimate', () => {
    const usage = { ...none, bytes: 900, reservedBytes: 40, ms: MINUTE_MS, reservedMs: 30_000 }
    expect(planReservation({ bytes: 1_000, minutesPerMonth: 2 }, usage, source)).toEqual({
      ...{ bytes: 60, ms: 30_000, maxBytes: 60, maxMs: 30_000 },
      ...{ quotaBytes: 1_000, quotaMs: 2 * MINUTE_MS },
    })
  })
  test('with its size reserved if it is known, and no minutes reserved if it is not encoded', () => {
    const usage = { ...none, ms: 99 * MINUTE_MS }
    expect(
      planReservation({ bytes: GIB, minutesPerMonth: 1 }, usage, { bytes: GIB / 2, releasedBytes: 0, isEncoded: false }),
    ).toMatchObject({
      bytes: GIB / 2,
      ms: 0,
    })
  })
})

test.each([
  ['QUOTA_BYTES', { bytes: 1_000 }, { bytes: 600, reservedBytes: 400 }, source],
  ['QUOTA_BYTES', { bytes: 0 }, {}, source],
  ['QUOTA_BYTES', { bytes: 1_000 }, { bytes: 600 }, { bytes: 401, releasedBytes: 0, isEncoded: false }],
  ['QUOTA_BYTES', { bytes: 1_000 }, { bytes: 2_000 }, source],
  ['QUOTA_MINUTES', { minutesPerMonth: 2 }, { ms: MINUTE_MS, reservedMs: MINUTE_MS }, source],
  ['QUOTA_MINUTES', { minutesPerMonth: 0 }, {}, source],
  ['TOO_MANY_JOBS', { concurrentJobs: 3 }, { jobs: 3 }, source],
  ['TOO_MANY_JOBS', { concurrentJobs: 0 }, {}, source],
])('%s is the reason of a rejection with the quota %j and the usage %j', (reason, quota, usage, work) => {
  expect(() => planReservation(quota, { ...none, ...usage }, work)).toThrow(expect.objectContaining({ kind: 'exhausted', reason }))
})

test('the error message names the used, reserved and allowed amounts', () => {
  const full = { ...none, bytes: 600, reservedBytes: 400, ms: 90_000, reservedMs: 30_000 }
  expect(() => planReservation({ bytes: 1_000 }, full, source)).toThrow(/of 1000 bytes .* 600 are used and 400 reserved/)
  expect(() => planReservation({ minutesPerMonth: 2 }, full, source)).toThrow(/of 2 minutes .* 1.5 are used and 0.5 reserved/)
})

describe('the result of a job', () => {
  const job = { bytes: 100, ms: 1_000, quotaBytes: 1_000, quotaMs: MINUTE_MS }
  const current = { bytes: 1_000, minutesPerMonth: 1 }
  const buildResult = (more: Partial<{ bytes: number; releasedBytes: number; ms: number }>) => ({
    bytes: 0,
    releasedBytes: 0,
    ms: 0,
    ...more,
  })
  test('may use its reservation, whatever else is used', () => {
    expect(findOverrun(job, current, { ...none, bytes: 5_000, ms: 99 * MINUTE_MS }, buildResult({ bytes: 100, ms: 1_000 }))).toBeUndefined()
  })
  test('may use more if the quota is neither used up nor reserved', () => {
    expect(findOverrun(job, current, { ...none, bytes: 500, reservedBytes: 100 }, buildResult({ bytes: 400 }))).toBeUndefined()
    expect(findOverrun(job, current, { ...none, bytes: 500, reservedBytes: 100 }, buildResult({ bytes: 401 }))).toMatch(/takes 401 bytes/)
    expect(findOverrun(job, current, { ...none, ms: 40_000, reservedMs: 10_000 }, buildResult({ ms: 10_000 }))).toBeUndefined()
    expect(findOverrun(job, current, { ...none, ms: 40_000, reservedMs: 10_000 }, buildResult({ ms: 10_001 }))).toMatch(
      /takes 0.17 minutes/,
    )
  })
  test('may use the bytes that it replaces', () => {
    expect(findOverrun(job, current, { ...none, bytes: 900 }, buildResult({ bytes: 1_000, releasedBytes: 900 }))).toBeUndefined()
  })
  test('is compared with the quota at its acceptance or the current one, whichever is higher', () => {
    const usage = { ...none, bytes: 500 }
    expect(findOverrun(job, { ...current, bytes: 1 }, usage, buildResult({ bytes: 500 }))).toBeUndefined()
    expect(findOverrun(job, { ...current, bytes: 2_000 }, usage, buildResult({ bytes: 1_500 }))).toBeUndefined()
    expect(findOverrun(job, {}, usage, buildResult({ bytes: 9_999 }))).toBeUndefined()
    expect(findOverrun({ bytes: 1, ms: 1 }, { bytes: 1 }, usage, buildResult({ bytes: 9_999 }))).toBeUndefined()
  })
})
