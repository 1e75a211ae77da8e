// Faults: A10
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { serviceCall } from '@vitascope/grpc'
import { fixedMasterKeys } from '@vitascope/security'
import { recordFigure } from '@vitascope/testing'
import { authenticate } from '../src/api-key/authenticate.ts'
import { createKeyCipher, sameBytes } from '../src/key/key-encryption.ts'

describe('the comparison time does not depend on the secret', () => {
  const SAMPLES = 5_000
  const MAX_T = 4.5
  /** Noise of a busy machine affects both sides equally often. A leak shows in every try. */
  const MAX_ATTEMPTS = 5

  const secret = randomBytes(32)
  const nearly = flipByte(secret, secret.length - 1)
  const notAtAll = flipByte(secret, 0)

  test('for byte strings with and without a common prefix', async () => {
    expect(await lowestT((bytes) => sameBytes(bytes, secret), [nearly, notAtAll])).toBeLessThan(MAX_T)
  })

  test('for keys with and without a common prefix with the configured key', async () => {
    const cipher = createKeyCipher(fixedMasterKeys('the master key of these tests, long'))
    const configured = 'configured-key-of-the-tests-0001'
    const lookup = cipher.hash(configured)
    const identities = { findState: async () => undefined, activate: async () => undefined }
    const call = (key: string) =>
      authenticate(
        { identities, cipher, configured: () => ({ lookup, isRead: true }), recordUse: () => {} },
        key,
        serviceCall('gateway', ''),
      ).catch(() => false)
    const t = await lowestT(call, ['configured-key-of-the-tests-0002', 'Xonfigured-key-of-the-tests-0001'])
    recordFigure('A10', `Welch's t of configured keys ${t.toFixed(1)}, limit ${MAX_T}`)
    expect(t).toBeLessThan(MAX_T)
  })

  test('and a comparison that stops at the first difference is detected', async () => {
    const [secret, equalUpToTheEnd, differentAtTheStart] = [0, 4_095, 0].map((at, index) =>
      index === 0 ? Buffer.alloc(4_096) : flipByte(Buffer.alloc(4_096), at),
    )
    if (!secret || !equalUpToTheEnd || !differentAtTheStart) throw new Error('a buffer is missing')
    const compareUnsafely = (bytes: Buffer) => bytes.every((byte, index) => byte === secret[index])
    expect(await lowestT(compareUnsafely, [equalUpToTheEnd, differentAtTheStart])).toBeGreaterThan(MAX_T)
  })

  async function lowestT<Value>(run: (value: Value) => unknown, values: readonly [Value, Value]): Promise<number> {
    let lowest = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < MAX_ATTEMPTS && lowest >= MAX_T; attempt++) lowest = Math.min(lowest, await measure(run, values))
    return lowest
  }

  /**
   * Returns Welch's t of the durations for the two values, called in random order. Both sides use the
   * same function, so that the compiler optimises them at the same time. The slowest tenth is
   * excluded, because it consists of pauses of the machine.
   */
  async function measure<Value>(run: (value: Value) => unknown, values: readonly [Value, Value]): Promise<number> {
    for (let warmUp = 0; warmUp < 1_000; warmUp++) await Promise.all(values.map(run))
    const durations: [number[], number[]] = [[], []]
    const order = randomBytes(2 * SAMPLES)
    for (const [index, random] of order.entries()) {
      const side = durations[0].length === SAMPLES ? 1 : durations[1].length === SAMPLES || random % 2 === 0 ? 0 : 1
      const value = values[side]
      const began = process.hrtime.bigint()
      await run(value)
      durations[side].push(Number(process.hrtime.bigint() - began))
      if (index % 500 === 0) await new Promise(setImmediate)
    }
    const all = [...durations[0], ...durations[1]].sort((a, b) => a - b)
    const longest = all[Math.floor(all.length * 0.9)] ?? 0
    return Math.abs(welchT(...(durations.map((times) => times.filter((time) => time <= longest)) as [number[], number[]])))
  }
})

function welchT(first: readonly number[], second: readonly number[]): number {
  const [a, b] = [computeMoments(first), computeMoments(second)]
  return (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count)
}

function computeMoments(values: readonly number[]): { mean: number; variance: number; count: number } {
  const count = values.length
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1), count }
}

function flipByte(bytes: Buffer, at: number): Buffer {
  const other = Buffer.from(bytes)
  other[at] = (other[at] ?? 0) ^ 0xff
  return other
}

describe('no source file compares a secret with === or !==', () => {
  const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
  /** Files that compare a value that is named like a secret but is not one. */
  const NO_SECRETS: Readonly<Record<string, string>> = {
    'apps/catalogue/src/setting/access-token.ts': 'the value is a part of a token whose signature was verified',
    'apps/console/src/upload/upload-queue.ts': 'the key of an item in a list',
    'apps/web/src/player/play-video.ts': 'the page compares two tokens of its own viewer',
    'apps/catalogue/src/download/create-download.ts': 'the key of a rendition',
    'apps/catalogue/src/publishing/encoding-format/start-renditions.ts': 'the key of a rendition',
    'apps/catalogue/src/notification/webhook/sending-store.ts': 'the key of a lane',
    'apps/encoding/src/job/job-message.ts': 'the key of a rendition',
    'apps/encoding/src/upload/post-policy.ts': 'a credential of S3 names the access key, which is no secret',
    'apps/encoding/src/engine/published-set.ts': 'the key of a rendition',
    'libs/media/src/check-segment.ts': 'the key of a rendition',
    'libs/media/src/plan-master.ts': 'the key of a rendition, and of an audio track',
    'libs/media/src/verify.ts': 'the key of a rendition',
    'libs/security/src/token-keys.ts': 'the spelling of a secret, compared with the same secret',
    'libs/security/src/video-token.ts': 'the spelling of a signature, compared with the same signature',
  }
  const NAME = '[\\w.?\\[\\]]*(?:key|token|password|secret|signature|credential|hmac|lookup)'
  const EITHER_SIDE = new RegExp(`(?<!typeof )\\b(${NAME}) (?:===?|!==?) (\\S+)|(\\S+) (?:===?|!==?) (${NAME})\\b(?![\\w.(\\[])`, 'gi')
  /** The existence of a secret, or a constant in the source, is not secret. */
  const OPEN = /^\(*(?:undefined|null|true|false|'[^']*'?|"[^"]*"?|\d+)[),;:?]*$/

  function findComparisons(source: string): string[] {
    return [...source.matchAll(EITHER_SIDE)].filter(([, , right, left]) => !OPEN.test(right ?? left ?? '')).map(([text]) => text)
  }

  test.each([
    ['if (key === stored.key) return', 1],
    ['return stored.apiKey !== expected', 1],
    ["hash.digest('hex') === signature", 1],
    ['password == row.password', 1],
    ["typeof key !== 'string'", 0],
    ['key === undefined || token !== null', 0],
    ["password !== 'x'", 0],
    ['key.length === 32', 0],
    ['rule.tokenRequired === true', 0],
  ])('%s has %i findings', (source, count) => {
    expect(findComparisons(source)).toHaveLength(count)
  })

  test('in any app or library', () => {
    const sources = ['apps', 'libs'].flatMap((kind) =>
      readdirSync(join(ROOT, kind)).flatMap((name) => listSources(join(ROOT, kind, name, 'src')).map((file) => relative(ROOT, file))),
    )
    expect(sources.length).toBeGreaterThan(200)
    const comparisons = sources.flatMap((file) => findComparisons(readFileSync(join(ROOT, file), 'utf8')).map((text) => `${file}: ${text}`))
    expect(comparisons.filter((text) => NO_SECRETS[text.split(': ', 1)[0] ?? ''] === undefined)).toEqual([])
    // An exception without a match must be removed.
    for (const file of Object.keys(NO_SECRETS))
      expect(comparisons.some((text) => text.startsWith(`${file}: `)) ? file : `no comparison in ${file}`).toBe(file)
  })
})

/** Returns the TypeScript files of a folder, without generated files and tests. */
function listSources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/gen/'))
}
