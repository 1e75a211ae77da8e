// Faults: S12
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { recordFigure } from '@vitascope/testing'
import { isEncodeError, isInvalidSource, packageRenditions, planEncode, probeSource, type RunLimits, verifySet } from '../src/index.ts'
import { encodeAll, type MediaFixture, openMediaFixture, picture, quick, sound } from './media-fixtures.ts'

/** Number of mutants; a nightly run may use ten times as many. */
const MUTANTS = Number(process.env['VITASCOPE_MUTANTS'] ?? 500)
const SEED = Number(process.env['VITASCOPE_SEED'] ?? 20_261_123)
/** Limits of each run of ffmpeg or ffprobe. Exceeding them fails the test. */
const limits: Partial<RunLimits> = { memoryBytes: 2 ** 30, wallSeconds: 30, stallSeconds: 20 }

const fixtures: readonly (readonly [name: string, codecs: string])[] = [
  ['whole.mp4', ''],
  ['whole.mkv', ''],
  ['whole.ts', '-c:v mpeg2video -c:a mp2'],
  ['whole.webm', '-c:v libvpx -b:v 200k -deadline realtime -c:a libopus'],
  ['whole.avi', '-c:v mpeg4 -c:a mp3'],
  ['whole.flv', ''],
]

let fixture: MediaFixture
let sources: Buffer[]
beforeAll(async () => {
  fixture = await openMediaFixture()
  const created = fixtures.map(([name, codecs]) => fixture.make(name, `${picture('160x120', 25, 1)} ${sound(1)} ${quick} ${codecs}`))
  sources = await Promise.all(created.map(async (file) => readFile(await file)))
})
afterAll(() => fixture.close())

test(`each of ${MUTANTS} mutants of six sources becomes a complete set or is rejected, within a gigabyte and half a minute`, async () => {
  const random = seededRandom(SEED)
  const outcomes = new Map<string, number>()
  const failures: string[] = []
  let slowest = 0
  for (let number = 0; number < MUTANTS; number++) {
    const kind = number % fixtures.length
    const bytes = mutate(sources[kind] ?? Buffer.alloc(0), random)
    const source = join(fixture.folder, `mutant-${number}`)
    await writeFile(source, bytes)
    const began = performance.now()
    const outcome = await encode(source)
    const seconds = (performance.now() - began) / 1000
    slowest = Math.max(slowest, seconds)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    if (seconds > 30 || /^(out_of_memory|timeout|stalled|unexpected)/.test(outcome)) {
      failures.push(`${number} of ${fixtures[kind]?.[0]}: ${outcome} after ${seconds.toFixed(1)} s`)
    }
    await rm(source)
  }
  process.stdout.write(
    `\nmutants of seed ${SEED}: ${JSON.stringify(Object.fromEntries([...outcomes].sort((a, b) => b[1] - a[1])))}, the slowest in ${slowest.toFixed(1)} s\n`,
  )
  recordFigure('S12', `${MUTANTS} mutants, the slowest in ${slowest.toFixed(1)} s, ${failures.length} beyond a limit`)
  expect(failures).toEqual([])
  // Whatever the result, a mutant leaves nothing outside of its own folder.
  expect((await readdir(fixture.folder)).filter((name) => !name.startsWith('whole.'))).toEqual([])
}, 7_200_000)

/**
 * Returns the outcome as a word. A picture that is too damaged to be copied is encoded, as in the
 * product.
 */
async function encode(source: string, canCopyPictures = true): Promise<string> {
  const work = { source, scratch: fixture.scratch('mutant'), tools: fixture.tools, limits }
  try {
    const { limits: runLimits, ...probeWork } = work
    const probe = await probeSource({ ...probeWork, runLimits })
    const plan = planEncode({ probe, tools: fixture.tools, canCopyPictures })
    await encodeAll({ ...work, plan })
    await packageRenditions({ ...work, plan })
    return (await verifySet({ ...work, plan })).length > 0 ? 'set' : 'unexpected: an empty set'
  } catch (error) {
    if (isInvalidSource(error)) return `rejected with ${error.code}`
    if (isEncodeError(error) && error.kind === 'unclean' && canCopyPictures) return `${await encode(source, false)}, not copied`
    return isEncodeError(error) ? error.kind : `unexpected: ${error}`
  } finally {
    await rm(work.scratch, { recursive: true, force: true })
  }
}

/** Changes, removes, duplicates or moves bytes, sometimes several times. */
function mutate(source: Buffer, random: (below: number) => number): Buffer {
  let bytes: Buffer = Buffer.from(source)
  for (let change = 0; change < 1 + random(3); change++) {
    const [from, length] = [random(bytes.length), 1 + random(Math.ceil(bytes.length / 8))]
    const [before, part, after] = [bytes.subarray(0, from), bytes.subarray(from, from + length), bytes.subarray(from + length)]
    switch (random(5)) {
      case 0:
        for (let byte = 0; byte < 1 + random(20); byte++) bytes[random(bytes.length)] = random(256)
        break
      case 1:
        // Headers are small and determine most of what is read of a file.
        for (let byte = 0; byte < 1 + random(4); byte++) bytes[random(Math.min(1024, bytes.length))] = random(256)
        break
      case 2:
        bytes = Buffer.concat([before, after])
        break
      case 3:
        bytes = Buffer.concat([before, part, part, after])
        break
      default:
        bytes = Buffer.concat([after, part, before])
    }
    if (bytes.length === 0) return Buffer.from(source.subarray(0, 1))
  }
  return bytes
}

function seededRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    // The result uses the high bits, because the low bits of such a generator repeat soon.
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}
