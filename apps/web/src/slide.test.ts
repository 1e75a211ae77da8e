import { expect, test } from '@jest/globals'
import { readSlides, slideAt } from './slide.ts'

const json = {
  slides: {
    '1': { seconds: 0, url: '/1.png' },
    '2': { seconds: 30, url: '/2.png' },
    '3': { seconds: 12.5, url: '/3.png' },
    '4': { seconds: null, url: '/4.png' },
    '5': { seconds: 40, url: '' },
  },
}

test('slides are sorted by time, without slides that lack a time or picture', () => {
  expect(readSlides(json).map(({ number }) => number)).toEqual([1, 3, 2])
  for (const bad of [null, 'x', { slides: [] }, { slides: 'x' }]) expect(readSlides(bad)).toEqual([])
})

test.each([
  [0, 1],
  [12.4, 1],
  [12.5, 3],
  [29.9, 3],
  [31, 2],
  [9_999, 2],
])('at %p s the slide %p is shown', (seconds, number) => {
  expect(slideAt(readSlides(json), seconds)?.number).toBe(number)
})

test('before the first time the first slide is shown', () => {
  expect(slideAt([{ number: 2, seconds: 9, url: '/2.png' }], 0)?.number).toBe(2)
  expect(slideAt([], 0)).toBeUndefined()
})
