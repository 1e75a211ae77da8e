import { expect, test } from '@jest/globals'
import { filterLevels, type Level, type QualityRule } from './quality-rule.ts'

/** The renditions of a 1080p source, as a master playlist lists them. */
const sizes: [number, number, number][] = [
  [100, 256, 144],
  [250, 426, 240],
  [360, 640, 360],
  [500, 640, 360],
  [800, 854, 480],
  [1200, 1280, 720],
  [2500, 1920, 1080],
]
const levels: Level[] = sizes.map(([kbits, width, height]) => ({
  width,
  height,
  // The peak bit rate differs from the bit rate in the name.
  bitrate: kbits * 1700,
  address: `http://localhost/delivery/7/v/hls/h264_${kbits}/index.m3u8?token=a/b_5/c`,
}))
const findNames = (indexes: number[]) => indexes.map((index) => sizes[index]?.[0])
const noLimits: QualityRule = { lowest: 0, highest: Number.POSITIVE_INFINITY, allowsHd: true, startsWithBest: false }

test.each([
  ['no limits', {}, [100, 250, 360, 500, 800, 1200, 2500]],
  ['the default profile', { lowest: 100, highest: 1200 }, [100, 250, 360, 500, 800, 1200]],
  ['bounds', { lowest: 250, highest: 800 }, [250, 360, 500, 800]],
  ['no high definition', { allowsHd: false }, [100, 250, 360, 500, 800]],
  ['bounds between two renditions', { lowest: 801, highest: 1199 }, [800]],
  ['bounds above all renditions', { lowest: 6000, highest: 6000 }, [2500]],
  ['bounds below all renditions', { lowest: 0, highest: 50 }, [100]],
  ['only high definition renditions in the bounds, but no high definition', { lowest: 1200, allowsHd: false }, [800]],
])('selects renditions: %s', (_, rule, expected) => {
  expect(findNames(filterLevels(levels, { ...noLimits, ...rule }))).toEqual(expected)
})

test('the quality of a portrait video is measured by its shorter side', () => {
  const portrait = levels.map((level) => ({ ...level, width: level.height, height: level.width }))
  expect(findNames(filterLevels(portrait, { ...noLimits, allowsHd: false }))).toEqual([100, 250, 360, 500, 800])
})

test('at least one level is selected if there is any', () => {
  const hdLevels = levels.slice(5)
  expect(filterLevels(hdLevels, { ...noLimits, allowsHd: false })).toEqual([1])
  expect(filterLevels([], noLimits)).toEqual([])
  const unnamed = [{ width: 0, height: 0, bitrate: 64_000, address: '/audio.m3u8' }]
  expect(filterLevels(unnamed, { ...noLimits, lowest: 100 })).toEqual([0])
})
