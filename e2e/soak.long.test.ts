// Faults: R14
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { recordFigure } from '@vitascope/testing'
import { type Platform, startPlatform } from './support/platform.ts'
import { soak } from './support/soak.ts'

const MINUTES = 5
const seed = Number(process.env['VITASCOPE_SOAK_SEED'] ?? Date.now() % 1_000_000)

let fixture: Platform
beforeAll(async () => {
  fixture = await startPlatform()
}, 120_000)
afterAll(() => fixture?.close())

test(
  `two organisations write and read for ${MINUTES} minutes without leaked or lost records`,
  async () => {
    const { calls, writes, problems } = await soak(fixture, { seconds: MINUTES * 60, seed })
    process.stderr.write(`soak: seed ${seed}, ${calls} calls, ${writes} of them writes, ${problems.length} problems\n`)
    recordFigure('R14', `${calls} calls in ${MINUTES} min, ${problems.length} problems`)
    expect(problems).toEqual([])
  },
  (MINUTES + 3) * 60_000,
)
