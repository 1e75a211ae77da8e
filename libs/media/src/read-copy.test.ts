import { describe, expect, test } from '@jest/globals'
import { copyReader } from './read-copy.ts'

/**
 * Ten frames at ten frames per second, in groups of four: two complete groups and a half one. `pts`
 * is in milliseconds.
 */
const frames = Array.from({ length: 10 }, (_, index) => ({
  pts: index * 100,
  bytes: index % 4 === 0 ? 3_000 : 500,
  suffix: index % 4 === 0 ? '' : ', F=0x0',
}))

function readPackets(
  packets: readonly { pts: number; bytes: number; suffix: string }[],
  others: readonly string[] = idrLines([0, 400, 800]),
) {
  const reader = copyReader({ frameRate: 10, groupFrames: 4 })
  const lines = packets.map(({ pts, bytes, suffix }) => `0, ${pts - 200}, ${pts}, 100, ${bytes}, 0x12345678${suffix}`)
  for (const line of ['#tb 0: 1/1000', '#tb 1: 1/1000', 'frame=10', ...lines, ...others]) reader.line(line)
  return reader.end()
}

const idrLines = (times: readonly number[]) => times.map((pts) => `1, ${pts - 200}, ${pts}, 100, 2900, 0x12345678`)
const withChangedFrame = (index: number, change: Partial<(typeof frames)[number]>) =>
  frames.map((frame, at) => (at === index ? { ...frame, ...change } : frame))

test('accepts video with evenly spaced frames in complete groups', () => {
  // 12,500 bytes per second are 100 kbit/s on average. 4,500 bytes in each full group of 0.4 s are
  // 90 kbit/s, two thirds of which count.
  expect(readPackets(frames)).toEqual({ frames: 10, kbps: 100 })
})

test('packets within a group may be in any order', () => {
  expect(
    readPackets([0, 3, 1, 2, 4, 5, 6, 7, 8, 9].map((index) => frames[index] ?? frames[0]).flatMap((frame) => frame ?? [])),
  ).toBeDefined()
})

test('accepts a group as large as a full buffer', () => {
  expect(readPackets(withChangedFrame(4, { bytes: 30_000 }))?.kbps).toBe(Math.ceil((31_500 * 8) / 0.4 / 1000 / 1.5))
})

test('rejects early: at the first frame at an unexpected time, and after eight groups without an IDR picture', () => {
  const reader = copyReader({ frameRate: 10, groupFrames: 4 })
  const line = (index: number) => reader.line(`0, ${index * 100}, ${index * 100}, 100, 500, 0x12345678`)
  reader.line('#tb 0: 1/1000')
  const lines = Array.from({ length: 40 }, (_, index) => line(index))
  expect(lines.indexOf(false)).toBe(32)
  const other = copyReader({ frameRate: 10, groupFrames: 4 })
  other.line('#tb 0: 1/1000')
  expect([other.line('0, 0, 0, 100, 500, 0x12345678'), other.line('0, 100, 150, 100, 500, 0x12345678')]).toEqual([true, false])
})

describe('rejects a stream with', () => {
  test.each([
    ['a frame at an unexpected time', withChangedFrame(5, { pts: 515 })],
    ['a duplicated frame', withChangedFrame(5, { pts: 600 })],
    ['a missing frame', frames.filter((_, index) => index !== 5)],
    ['frames that cross the boundary of a group', [0, 1, 2, 4, 3, 5, 6, 7, 8, 9].flatMap((index) => frames[index] ?? [])],
    ['a frame before the start', withChangedFrame(0, { pts: -100 })],
    ['a frame that is not shown', withChangedFrame(5, { suffix: ', F=0x4' })],
    ['packet side data', withChangedFrame(4, { suffix: ', S=1, New Extradata, 43, 0x2ef20fe9' })],
    ['a packet without a time stamp', withChangedFrame(5, { pts: Number.NaN })],
    ['no frames', []],
  ])('%s', (_, packets) => {
    expect(readPackets(packets)).toBeUndefined()
  })

  test.each([
    ['a group whose key frame is not an IDR picture', idrLines([0, 800])],
    ['IDR pictures at unexpected times', idrLines([0, 300, 900])],
    ['parameter sets among the frames', [...idrLines([0, 400, 800]), '2, 200, 400, 100, 40, 0x12345678']],
  ])('%s', (_, others) => {
    expect(readPackets(frames, others)).toBeUndefined()
  })
})
