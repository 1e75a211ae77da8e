import { expect, test } from '@jest/globals'
import { findImageFrame } from './image-frames.ts'

test.each([
  ['a short video shows the exact frame', 'thumb-25', 10.1, 1799, 303],
  ['a video of a minute or more shows the preceding key frame', 'thumb-25', 10.1, 1800, 300],
  ['a position after the end shows the last frame', 'thumb-75', 90, 900, 899],
  ['the poster shows the best frame', 'poster', 10.1, 1800, 61],
])('%s', (_, key, atSeconds, frames, shown) => {
  const video = { frames, groupFrames: 60, frameRate: { numerator: 30, denominator: 1 } }
  expect(findImageFrame({ key, atSeconds, shortSide: 360 } as never, { video } as never, 61)).toBe(shown)
})
