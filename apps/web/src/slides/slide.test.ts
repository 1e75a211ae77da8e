import { expect, test } from '@jest/globals'
import { findSlide, readSlides } from './slide.ts'

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
  for (const malformed of [null, 'x', { slides: [] }, { slides: 'x' }]) expect(readSlides(malformed)).toEqual([])
})

test.each([
  [0, 1],
  [12.4, 1],
  [12.5, 3],
  [29.9, 3],
  [31, 2],
  [9_999, 2],
])('at %p s the slide %p is shown', (seconds, number) => {
  expect(findSlide(readSlides(json), seconds)?.number).toBe(number)
})

test('before the first time the first slide is shown', () => {
  expect(findSlide([{ number: 2, seconds: 9, url: '/2.png' }], 0)?.number).toBe(2)
  expect(findSlide([], 0)).toBeUndefined()
})
