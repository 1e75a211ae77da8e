import { expect, test } from '@jest/globals'
import { shownFrame } from './image-frames.ts'

test.each([
  ['of a short one a moment is shown to the frame', 'thumb-25', 10.1, 1799, 303],
  ['from a minute on by the key frame before it', 'thumb-25', 10.1, 1800, 300],
  ['never behind the last frame', 'thumb-75', 90, 900, 899],
  ['the poster is the best frame', 'poster', 10.1, 1800, 61],
])('%s', (_, key, atSeconds, frames, shown) => {
  const video = { frames, groupFrames: 60, frameRate: { numerator: 30, denominator: 1 } }
  expect(shownFrame({ key, atSeconds, shortSide: 360 } as never, { video } as never, 61)).toBe(shown)
})
