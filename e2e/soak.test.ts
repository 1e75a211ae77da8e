// Faults: R14, R18
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { recordFigure } from '@vitascope/testing'
import { type Platform, startPlatform } from './support/platform.ts'
import { soak } from './support/soak.ts'

const seconds = Number(process.env['VITASCOPE_SOAK_SECONDS'] ?? 12)
const seed = Number(process.env['VITASCOPE_SOAK_SEED'] ?? Date.now() % 1_000_000)

let fixture: Platform
beforeAll(async () => {
  fixture = await startPlatform()
}, 120_000)
afterAll(() => fixture?.close())

test(
  `two organisations write and read for ${seconds} s without leaked or lost records`,
  async () => {
    const { calls, writes, problems } = await soak(fixture, { seconds, seed })
    process.stderr.write(`soak: seed ${seed}, ${calls} calls, ${writes} of them writes, ${problems.length} problems\n`)
    recordFigure('R14', `${calls} calls in ${seconds} s, ${problems.length} problems`)
    expect(problems).toEqual([])
    expect(writes).toBeGreaterThan(100)
  },
  seconds * 1000 + 120_000,
)
