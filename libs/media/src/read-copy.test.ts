import { describe, expect, test } from '@jest/globals'
import { copyReader } from './read-copy.ts'

/** Ten frames at ten frames per second, in groups of four: two complete groups and a half one. `pts` is in milliseconds. */
const frames = Array.from({ length: 10 }, (_, place) => ({
  pts: place * 100,
  bytes: place % 4 === 0 ? 3_000 : 500,
  more: place % 4 === 0 ? '' : ', F=0x0',
}))

function read(packets: readonly { pts: number; bytes: number; more: string }[], others: readonly string[] = keys([0, 400, 800])) {
  const reader = copyReader({ frameRate: 10, groupFrames: 4 })
  const lines = packets.map(({ pts, bytes, more }) => `0, ${pts - 200}, ${pts}, 100, ${bytes}, 0x12345678${more}`)
  for (const line of ['#tb 0: 1/1000', '#tb 1: 1/1000', 'frame=10', ...lines, ...others]) reader.line(line)
  return reader.end()
}

const keys = (times: readonly number[]) => times.map((pts) => `1, ${pts - 200}, ${pts}, 100, 2900, 0x12345678`)
const changed = (place: number, change: Partial<(typeof frames)[number]>) =>
  frames.map((frame, index) => (index === place ? { ...frame, ...change } : frame))

test('accepts video with evenly spaced frames in complete groups', () => {
  // 12,500 bytes per second are 100 kbit/s on average. 4,500 bytes in each full group of 0.4 s are 90 kbit/s, two
  // thirds of which count.
  expect(read(frames)).toEqual({ frames: 10, kbps: 100 })
})

test('packets within a group may be in any order', () => {
  expect(read([0, 3, 1, 2, 4, 5, 6, 7, 8, 9].map((place) => frames[place] ?? frames[0]).flatMap((frame) => frame ?? []))).toBeDefined()
})

test('accepts a group as large as a full buffer', () => {
  expect(read(changed(4, { bytes: 30_000 }))?.kbps).toBe(Math.ceil((31_500 * 8) / 0.4 / 1000 / 1.5))
})

test('rejects early: at the first frame at an unexpected time, and after eight groups without an IDR picture', () => {
  const reader = copyReader({ frameRate: 10, groupFrames: 4 })
  const line = (place: number) => reader.line(`0, ${place * 100}, ${place * 100}, 100, 500, 0x12345678`)
  reader.line('#tb 0: 1/1000')
  const lines = Array.from({ length: 40 }, (_, place) => line(place))
  expect(lines.indexOf(false)).toBe(32)
  const other = copyReader({ frameRate: 10, groupFrames: 4 })
  other.line('#tb 0: 1/1000')
  expect([other.line('0, 0, 0, 100, 500, 0x12345678'), other.line('0, 100, 150, 100, 500, 0x12345678')]).toEqual([true, false])
})

describe('rejects a stream with', () => {
  test.each([
    ['a frame at an unexpected time', changed(5, { pts: 515 })],
    ['a duplicated frame', changed(5, { pts: 600 })],
    ['a missing frame', frames.filter((_, place) => place !== 5)],
    ['frames that cross the boundary of a group', [0, 1, 2, 4, 3, 5, 6, 7, 8, 9].flatMap((place) => frames[place] ?? [])],
    ['a frame before the start', changed(0, { pts: -100 })],
    ['a frame that is not shown', changed(5, { more: ', F=0x4' })],
    ['packet side data', changed(4, { more: ', S=1, New Extradata, 43, 0x2ef20fe9' })],
    ['a packet without a time stamp', changed(5, { pts: Number.NaN })],
    ['no frames', []],
  ])('%s', (_, packets) => {
    expect(read(packets)).toBeUndefined()
  })

  test.each([
    ['a group whose key frame is not an IDR picture', keys([0, 800])],
    ['IDR pictures at unexpected times', keys([0, 300, 900])],
    ['parameter sets among the frames', [...keys([0, 400, 800]), '2, 200, 400, 100, 40, 0x12345678']],
  ])('%s', (_, others) => {
    expect(read(frames, others)).toBeUndefined()
  })
})
