// Faults: R14
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { recordFigure, waitFor } from '@vitascope/testing'
import { countOpenFiles } from './support/open-files.ts'
import { type Platform, startPlatform } from './support/platform.ts'
import { residentMib } from './support/resident-memory.ts'
import { soak } from './support/soak.ts'

const seconds = Number(process.env['VITASCOPE_SOAK_SECONDS'] ?? 12)
const seed = Number(process.env['VITASCOPE_SOAK_SEED'] ?? Date.now() % 1_000_000)
const SERVICES = ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics', 'worker', 'delivery', 'gateway']
const WARM_UP_SECONDS = 4
/** Maximum number of additional open files per process. The number of idle connections varies. A leak per call would add hundreds. */
const MAX_ADDED_FILES = 10

let fixture: Platform
beforeAll(async () => {
  fixture = await startPlatform()
}, 120_000)
afterAll(() => fixture?.close())

test(
  `two organisations write and read for ${seconds} s without leaked or lost records, and no process keeps files open`,
  async () => {
    const { platform } = fixture
    // Connections and pools that the load needs are open after the warm-up.
    const warmUp = await soak(fixture, { seconds: WARM_UP_SECONDS, seed: seed + 1 })
    const before = countOpenFiles(platform, SERVICES)
    const memoryBefore = residentMib(platform, 'gateway')
    const { calls, writes, problems } = await soak(fixture, { seconds, seed })
    process.stderr.write(`soak: seed ${seed}, ${calls} calls, ${writes} of them writes, ${problems.length} problems\n`)
    expect([...warmUp.problems, ...problems]).toEqual([])
    expect(writes).toBeGreaterThan(100)
    const listAdded = () =>
      Object.entries(countOpenFiles(platform, SERVICES)).map(([name, count]): [string, number] => [name, count - (before[name] ?? 0)])
    await waitFor(() => listAdded().every(([, added]) => added <= MAX_ADDED_FILES), {
      timeout: 30_000,
      describe: () => `the processes to close their files; added since the warm-up: ${JSON.stringify(listAdded())}`,
    })
    const mostAdded = Math.max(...listAdded().map(([, added]) => added))
    const memory = residentMib(platform, 'gateway') - memoryBefore
    recordFigure(
      'R14',
      `${calls} calls, ${problems.length} problems, at most ${mostAdded} more open files, ${memory} MiB more in the gateway`,
    )
  },
  seconds * 1000 + 180_000,
)
