// Faults: B14, R18
import { readdirSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { recordFigure, shortestDurationMs, threadCpuTimeMs } from '@vitascope/testing'
import { HOSTILE_FILES } from '../test/hostile-files.ts'
import { createCaptionReader, type ReaderBounds } from './caption-reader.ts'
import { readCaptions } from './read-captions.ts'

/** The goal is 100 ms on an idle machine. The machine of a test may be busy, so ten times as much is allowed. */
const MAX_DELAY_MS = 1_000

const readers: ReturnType<typeof createCaptionReader>[] = []
const open = (bounds: Partial<ReaderBounds> = {}) => {
  const reader = createCaptionReader({ timeoutMs: 25_000, maxCpuMs: 20_000, ...bounds })
  readers.push(reader)
  return reader
}
afterEach(() => Promise.all(readers.splice(0).map((reader) => reader.close())))

const SRT = '1\n00:00:01,000 --> 00:00:02,500\nGrüß <i>Gott</i> \u{1f600}\n\n'
const large = { content: SRT.repeat(5_000), format: 'srt' } as const
/** Number of caption threads of this process, by their names. */
const threads = () => readdirSync('/proc/self/task').filter((id) => threadName(id) === 'captions').length
function threadName(id: string): string | undefined {
  try {
    return readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim()
  } catch {
    // The thread has ended since the folder was read.
    return undefined
  }
}

test('a file is read with the same result with and without a thread, as text and as bytes', async () => {
  const reader = open()
  for (const content of [SRT, large.content, Buffer.from(large.content), Buffer.from(`\ufeff${large.content}`, 'utf16le')]) {
    expect(await reader.read({ content, format: 'srt' }, '1')).toEqual(readCaptions(String(SRT).repeat(content === SRT ? 1 : 5_000), 'srt'))
  }
  expect(await reader.read({ content: ' '.repeat(100_000), format: 'vtt' }, '1')).toEqual([])
})

test('a file with too many captions is rejected, and the next file is read', async () => {
  const reader = open()
  const tooMany = { content: SRT.repeat(20_001), format: 'srt' } as const
  await expect(reader.read(tooMany, '1')).rejects.toMatchObject({ kind: 'invalid', reason: 'CAPTION_TOO_LARGE' })
  expect(await reader.read(large, '1')).toHaveLength(5_000)
})

test('a file that needs too much memory is rejected, and its thread ends', async () => {
  const reader = open({ maxHeapMiB: 10 })
  const content = `1\r\n00:00:01,000 --> 00:00:02,000\r\n${'ordinary words '.repeat(13)}\r\n\r\n`.repeat(19_999)
  await expect(reader.read({ content, format: 'srt' }, '1')).rejects.toMatchObject({
    kind: 'invalid',
    reason: 'CAPTION_TOO_LARGE',
    message: expect.stringContaining('needs too much memory'),
  })
  expect(threads()).toBe(0)
})

test('a file that takes too long is rejected, and its thread ends', async () => {
  const reader = open({ maxCpuMs: 1 })
  // Ten times the largest file, so that the thread reads for longer than the poll interval.
  const content = ' x\n'.repeat(20_000_000)
  const errors = { kind: 'invalid', reason: 'CAPTION_TOO_LARGE', message: expect.stringContaining('takes too long') }
  await expect(reader.read({ content, format: 'vtt' }, '1')).rejects.toMatchObject(errors)
  expect(threads()).toBe(0)
})

test('an aborted signal ends the thread that reads the file', async () => {
  const reader = open()
  const abort = new AbortController()
  const read = reader.read(large, '1', abort.signal)
  abort.abort(new Error('aborted'))
  await expect(read).rejects.toThrow('aborted')
  expect(await reader.read(large, '1')).toHaveLength(5_000)
})

test('close ends all threads and rejects the files that are being read', async () => {
  const reader = open()
  await reader.read(large, '1')
  expect(threads()).toBe(1)
  const reads = [reader.read(large, '1'), reader.read(large, '2'), reader.read(large, '1')]
  const ended = Promise.allSettled(reads)
  await reader.close()
  for (const result of await ended) expect(result).toMatchObject({ reason: { kind: 'unavailable', reason: 'CAPTIONS_BUSY' } })
  await expect(reader.read(large, '1')).rejects.toMatchObject({ kind: 'unavailable' })
  expect(threads()).toBe(0)
})

test('an organisation that sends many files does not block the files of other organisations', async () => {
  const reader = open()
  const results = Promise.allSettled(Array.from({ length: 50 }, () => reader.read(large, '1')))
  expect(await Promise.all(['2', '3', '4'].map((organisationId) => reader.read(large, organisationId)))).toHaveLength(3)
  const errors = (await results).flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  // One file is read and four are queued.
  expect(errors).toHaveLength(45)
  for (const error of errors) expect(error).toMatchObject({ kind: 'unavailable', reason: 'CAPTIONS_BUSY', retryAfter: 1 })
})

describe('the event loop is not blocked while a hostile file is read', () => {
  let longestMs = 0
  afterAll(() => recordFigure('R18', `longest delay of the event loop ${Math.round(longestMs)} ms`))
  test.each(HOSTILE_FILES)('%s', async (_, format, make) => {
    const reader = open()
    await reader.read(large, '1')
    const content = make()
    const measureDelay = async () => {
      const delay = monitorEventLoopDelay({ resolution: 5 })
      delay.enable()
      await reader.read({ content, format }, '1').catch(() => undefined)
      delay.disable()
      return delay.max / 1e6
    }
    const ms = await shortestDurationMs(MAX_DELAY_MS, measureDelay)
    longestMs = Math.max(longestMs, ms)
    expect(ms).toBeLessThan(MAX_DELAY_MS)
  })
})

test('hostile files are read by another thread: this one uses less than half of their CPU time', async () => {
  const reader = open()
  await reader.read(large, '1')
  let [ownMs, readMs] = [0, 0]
  for (const [, format, make] of HOSTILE_FILES) {
    const content = make()
    const before = threadCpuTimeMs()
    await reader.read({ content, format }, '1').catch(() => undefined)
    const between = threadCpuTimeMs()
    ownMs += between - before
    try {
      readCaptions(content, format)
    } catch (error) {
      expect(error).toMatchObject({ reason: 'CAPTION_TOO_LARGE' })
    }
    readMs += threadCpuTimeMs() - between
  }
  recordFigure('R18', `${Math.round(ownMs)} of ${Math.round(readMs)} ms of CPU time on the event loop`)
  expect(ownMs).toBeLessThan(readMs / 2)
}, 120_000)
