import { expect, test } from '@jest/globals'
import { findArea } from './object-areas.ts'

test.each([
  ['media/12/34-1-ab/hls/index.m3u8', 'media'],
  ['uploads/2/launch.mp4', 'uploads'],
  ['work', 'work'],
  ['mediaplayer/12', undefined],
  ['.incoming/12', undefined],
  ['', undefined],
])('the area of %j is %j', (name, area) => {
  expect(findArea(name)).toBe(area)
})
