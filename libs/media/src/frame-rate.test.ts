import { expect, test } from '@jest/globals'
import { groupFrames, outputFrameRate } from './frame-rate.ts'

test.each([
  ['PAL', 25, 1, false, '25/1', 50],
  ['film on NTSC', 24_000, 1001, false, '24000/1001', 48],
  ['NTSC', 30_000, 1001, false, '30000/1001', 60],
  ['half PAL', 25, 2, false, '25/2', 25],
  ['a slide show', 1, 5, false, '10/1', 20],
  ['7 per second, doubled', 7, 1, false, '14/1', 28],
  ['120 per second, halved', 120, 1, false, '60/1', 120],
  ['144 per second, divided by three', 144, 1, false, '48/1', 96],
  ['a phone recording of almost 30', 29_870, 1000, true, '30/1', 60],
  ['a screen recording with an average of 17', 17, 1, true, '20/1', 40],
  ['a screen recording with an average of 90', 90, 1, true, '60/1', 120],
])('the output rate and the key frame interval are computed for %s', (_, numerator, denominator, variableRate, expected, group) => {
  const rate = outputFrameRate({ frameRate: { numerator, denominator }, variableRate })
  expect(`${rate.numerator}/${rate.denominator}`).toBe(expected)
  expect(groupFrames(rate)).toBe(group)
})

test('any source rate results in 10 to 60 frames per second with key frames every 2 s, within 2.1 ms', () => {
  for (let rate = 0.05; rate <= 240; rate += 0.37) {
    for (const variableRate of [false, true]) {
      const out = outputFrameRate({ frameRate: { numerator: Math.round(rate * 1000), denominator: 1000 }, variableRate })
      const number = out.numerator / out.denominator
      expect(number >= 10 && number <= 60).toBe(true)
      expect(Math.abs(groupFrames(out) / number - 2)).toBeLessThan(0.0021)
    }
  }
})
