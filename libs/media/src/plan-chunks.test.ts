import { expect, test } from '@jest/globals'
import { type PictureToCut, planChunks } from './plan-chunks.ts'

const picture = (more: Partial<PictureToCut> = {}): PictureToCut => ({
  frames: 25 * 600,
  frameRate: { numerator: 25, denominator: 1 },
  segmentFrames: 100,
  cpuSecondsPerFrame: 0.01,
  canCut: true,
  ...more,
})
const seconds = (more?: Partial<PictureToCut>) => planChunks(picture(more)).map(({ frames }) => frames / 25)

test('the first chunk has one segment, and each next one is twice as long, up to a minute', () => {
  expect(seconds()).toEqual([4, 8, 16, 32, ...Array.from({ length: 9 }, () => 60)])
})

test('chunks are adjacent and start at segment boundaries', () => {
  const chunks = planChunks(picture({ frames: 14_987 }))
  let [frame, segment] = [0, 1]
  for (const chunk of chunks) {
    expect([chunk.startFrame, chunk.firstSegment, chunk.startSeconds]).toEqual([frame, segment, frame / 25])
    expect(chunk.expectedCpuSeconds).toBeCloseTo(chunk.frames * 0.01, 6)
    frame += chunk.frames
    segment += chunk.frames / 100
  }
  expect(frame).toBe(14_987)
})

test('a chunk of a short video is an eighth of it, and at least four segments', () => {
  expect(seconds({ frames: 25 * 200 })).toEqual([4, 8, 16, 28, 28, 28, 28, 28, 32])
  expect(seconds({ frames: 25 * 60 })).toEqual([4, 8, 16, 16, 16])
})

test('expensive chunks take at most forty processor seconds, and have at least two segments', () => {
  expect(seconds({ cpuSecondsPerFrame: 0.05 })).toEqual([4, 8, 16, ...Array.from({ length: 17 }, () => 32), 28])
  expect(new Set(seconds({ cpuSecondsPerFrame: 1 }).slice(1))).toEqual(new Set([8, 4]))
})

test('a short rest is added to the previous chunk, and a source that cannot be cut has one chunk', () => {
  expect(seconds({ frames: 25 * 5 })).toEqual([5])
  expect(seconds({ frames: 25 * 6 })).toEqual([4, 2])
  expect(seconds({ frames: 25 * 62 })).toEqual([4, 8, 16, 16, 18])
  expect(seconds({ frames: 1 })).toEqual([0.04])
  expect(seconds({ canCut: false })).toEqual([600])
})
