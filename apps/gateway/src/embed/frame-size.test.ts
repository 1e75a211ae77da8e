import { expect, test } from '@jest/globals'
import { frameSize } from './frame-size.ts'

const picture = { width: 1280, height: 720 }

test.each([
  ['nothing asked', {}, '1280', '720'],
  ['both', { width: '400', height: '400' }, '400', '400'],
  ['a width: the height follows', { width: '640' }, '640', '360'],
  ['a height: the width follows', { height: '360' }, '640', '360'],
  ['a width in percent: the height follows in the page', { width: '100%' }, '100%', undefined],
  ['a height in percent', { height: '50%' }, '100%', '50%'],
  ['percent and pixels', { width: '100%', height: '360' }, '100%', '360'],
  ['one pixel', { width: '1' }, '1', '1'],
])('%s', (_, asked, width, height) => {
  expect(frameSize(asked, picture)).toEqual({ width, height, ratio: '1280/720' })
})
