import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type OpenHouse, openHouse } from './support/house.ts'
import { soak } from './support/soak.ts'

const MINUTES = 5
const seed = Number(process.env['VITASCOPE_SOAK_SEED'] ?? Date.now() % 1_000_000)

let house: OpenHouse
beforeAll(async () => {
  house = await openHouse()
}, 120_000)
afterAll(() => house?.close())

test(
  `for ${MINUTES} minutes two organisations write and read: nothing crosses over, nothing is lost`,
  async () => {
    const { calls, writes, problems } = await soak(house, { seconds: MINUTES * 60, seed })
    process.stderr.write(`soak: seed ${seed}, ${calls} calls, ${writes} of them writes, ${problems.length} problems\n`)
    expect(problems).toEqual([])
  },
  (MINUTES + 3) * 60_000,
)
