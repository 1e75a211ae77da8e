import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { openFileStorage } from './file-storage.ts'
import type { ObjectStorage, RangeRequest } from './object-storage.ts'
import { createPiecewiseReads, DEFAULT_PIECEWISE_BOUNDS } from './piecewise-reads.ts'

const KIB = 1024
const BOUNDS = { ...DEFAULT_PIECEWISE_BOUNDS, pieceBytes: 256 * KIB }
const FILE = randomBytes(2_000_000)

let root: string
let storage: ObjectStorage
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'pieces-'))
  storage = await openFileStorage({ root })
  await storage.put('a/file', FILE)
  await storage.put('a/empty', Buffer.alloc(0))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const RANGES: (RangeRequest | undefined)[] = [
  undefined,
  { start: 0 },
  { start: 0, end: 0 },
  { start: 999_999, end: 1_500_000 },
  { start: 1_999_999 },
  { start: 5, end: 9_000_000 },
  { last: 1 },
  { last: 600_000 },
  { last: 9_000_000 },
  { start: 2_000_000 },
  { start: 3, end: 2 },
  { last: 0 },
]

test.each(RANGES.map((range) => ({ range })))('range $range returns the same bytes as a read without pieces', async ({ range }) => {
  const tryRead = async (from: Pick<ObjectStorage, 'open'>, name: string) => {
    try {
      const { stream, ...info } = await from.open(name, range && { range })
      return { ...info, content: (await buffer(stream)).toString('base64') }
    } catch (error) {
      return { error, bytes: (error as { bytes?: number }).bytes }
    }
  }
  const reads = createPiecewiseReads(storage, BOUNDS)
  for (const name of ['a/file', 'a/empty', 'a/none']) expect(await tryRead(reads, name)).toEqual(await tryRead(storage, name))
})

/** Returns the first chunk of a stream and reads nothing more, as a client that stalls. */
async function stall(stream: Readable): Promise<Buffer> {
  const first = await waitFor(() => stream.read() as Buffer | null)
  return first
}

test('clients that stall occupy no request, and receive the right bytes later', async () => {
  const reads = createPiecewiseReads(storage, { ...BOUNDS, maxRequests: 2 })
  const stalled = await Promise.all(Array.from({ length: 10 }, () => reads.open('a/file')))
  const started = await Promise.all(stalled.map(({ stream }) => stall(stream)))
  await waitFor(() => reads.state().active === 0)
  expect((await buffer((await reads.open('a/file')).stream)).equals(FILE)).toBe(true)
  for (const [index, { stream }] of stalled.entries()) {
    expect(Buffer.concat([started[index] ?? Buffer.alloc(0), await buffer(stream)]).equals(FILE)).toBe(true)
  }
  expect(reads.state()).toEqual({ active: 0, waiting: 0, bufferedBytes: 0 })
})

test('the buffers of clients that stall are bounded, and dropped pieces are read again', async () => {
  const maxBufferedBytes = 600 * KIB
  const reads = createPiecewiseReads(storage, { ...BOUNDS, maxBufferedBytes })
  const stalled: { stream: Readable; first: Buffer }[] = []
  for (let nth = 0; nth < 8; nth++) {
    const { stream } = await reads.open('a/file', { range: { start: nth } })
    stalled.push({ stream, first: await stall(stream) })
  }
  expect(reads.state().bufferedBytes).toBeLessThanOrEqual(maxBufferedBytes)
  for (const [nth, { stream, first }] of stalled.entries()) {
    expect(Buffer.concat([first, await buffer(stream)]).equals(FILE.subarray(nth))).toBe(true)
  }
  expect(reads.state().bufferedBytes).toBe(0)
})

test('a read is rejected if it waits too long, and leaves the queue if its signal aborts', async () => {
  const unresponsive = { ...storage, open: () => new Promise<never>(() => {}) }
  let rejected = 0
  const reads = createPiecewiseReads(unresponsive, { ...BOUNDS, maxRequests: 1, queueTimeoutMs: 50 }, () => {
    rejected += 1
  })
  reads.open('a/file').catch(() => {})
  await expect(reads.open('a/file')).rejects.toMatchObject({ kind: 'unavailable', reason: 'STORAGE_BUSY', retryAfter: 1 })
  const controller = new AbortController()
  const abortedRead = reads.open('a/file', { signal: controller.signal })
  controller.abort()
  await expect(abortedRead).rejects.toThrow()
  expect([rejected, reads.state().waiting]).toEqual([1, 0])
})

test('a stream that is destroyed releases its buffers', async () => {
  const reads = createPiecewiseReads(storage, BOUNDS)
  const { stream } = await reads.open('a/file')
  await stall(stream)
  stream.destroy()
  await waitFor(() => reads.state().bufferedBytes === 0)
})
