import { expect, test } from '@jest/globals'
import { formatSeconds, formatTimeCode, parseTimeCode, toFrameTime } from './time-code.ts'

test.each([
  ['90', 90],
  ['1:30', 90],
  [' 1:02:03 ', 3_723],
  ['0:01.5', 1.5],
  ['00:01:02.480', 62.48],
  ['', undefined],
  ['1:2:3:4', undefined],
  ['1:02.4801', undefined],
  ['-1', undefined],
  ['soon', undefined],
])('%j is %j seconds', (text, seconds) => {
  expect(parseTimeCode(text)).toBe(seconds)
})

test.each([
  [0, '00:00:00.000'],
  [62.48, '00:01:02.480'],
  [59.9996, '00:01:00.000'],
  [3_723.007, '01:02:03.007'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatTimeCode(seconds)).toBe(text)
  expect(parseTimeCode(text)).toBeCloseTo(seconds, 3)
})

test('whole seconds have no fraction', () => {
  expect([formatSeconds(0), formatSeconds(3_723)]).toEqual(['00:00:00', '01:02:03'])
})

test('the time of a frame is within that frame, and not after the end of the video', () => {
  // Frame 50 of a video with 24 frames per second.
  expect(toFrameTime(50 / 24, 10)).toBe(2.084)
  expect(toFrameTime(2.48, 10)).toBe(2.48)
  expect(toFrameTime(5.97, 5.9604)).toBe(5.96)
  expect(toFrameTime(5.9704, 0)).toBe(5.971)
})
