import { expect, test } from '@jest/globals'
import { frameSize, naturalHeight } from './frame-size.ts'

const picture = { width: 1280, height: 720 }

test.each([
  ['none, so the page derives the height', {}, '1280', undefined],
  ['width and height', { width: '400', height: '400' }, '400', '400'],
  ['width only, so the page derives the height', { width: '640' }, '640', undefined],
  ['height only, so the width follows from the ratio', { height: '360' }, '640', '360'],
  ['width in percent, so the page derives the height', { width: '100%' }, '100%', undefined],
  ['height in percent', { height: '50%' }, '100%', '50%'],
  ['width in percent, height in pixels', { width: '100%', height: '360' }, '100%', '360'],
  ['one pixel', { width: '1' }, '1', undefined],
])('requested size: %s', (_, requested, width, height) => {
  expect(frameSize(requested, picture)).toEqual({ width, height, ratio: '1280/720' })
})

test('the derived height is in pixels, and undefined for a width in percent', () => {
  expect(naturalHeight(frameSize({ width: '640' }, picture))).toBe('360')
  expect(naturalHeight(frameSize({ width: '1' }, picture))).toBe('1')
  expect(naturalHeight(frameSize({ width: '50%' }, picture))).toBeUndefined()
})
