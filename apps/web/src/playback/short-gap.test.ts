import { describe, expect, test } from '@jest/globals'
import { skipShortGap } from './short-gap.ts'

const buildVideo = (currentTime: number, ranges: [number, number][], seeking = false) => ({
  currentTime,
  seeking,
  buffered: { length: ranges.length, start: (at: number) => ranges[at]?.[0] ?? 0, end: (at: number) => ranges[at]?.[1] ?? 0 },
})

describe('skipShortGap', () => {
  test.each<[string, ReturnType<typeof buildVideo>, number]>([
    ['seeks to media that begin shortly after the position', buildVideo(1.92, [[2, 30]]), 2],
    [
      'uses the first range that ends after the position',
      buildVideo(4.1, [
        [0, 4],
        [4.2, 8],
      ]),
      4.2,
    ],
    ['keeps a position that has media', buildVideo(3, [[2, 30]]), 3],
    [
      'keeps a position at the end of a range',
      buildVideo(4, [
        [2, 4],
        [8, 10],
      ]),
      4,
    ],
    ['keeps the position before a longer gap', buildVideo(1.5, [[2, 30]]), 1.5],
    ['keeps the position during a seek', buildVideo(1.92, [[2, 30]], true), 1.92],
    ['keeps the position with an empty buffer', buildVideo(1.92, []), 1.92],
  ])('%s', (_, video, position) => {
    skipShortGap(video)
    expect(video.currentTime).toBe(position)
  })
})
