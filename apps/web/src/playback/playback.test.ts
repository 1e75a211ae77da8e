import { expect, test } from '@jest/globals'
import { mergeQualities } from './playback.ts'

test('renditions of the same height form one quality, and renditions without pictures form none', () => {
  const levels = [
    { width: 640, height: 360, bitrate: 360_000 },
    { width: 1280, height: 720, bitrate: 1_200_000 },
    { width: 640, height: 360, bitrate: 500_000 },
    { width: 0, height: 0, bitrate: 64_000 },
  ]
  expect(mergeQualities(levels)).toEqual([
    { id: '1', width: 1280, height: 720 },
    { id: '2', width: 640, height: 360 },
  ])
  expect(mergeQualities(levels.slice(3))).toEqual([])
})
