import { expect, test } from '@jest/globals'
import { findTile, readStoryboard } from './storyboard.ts'

const vtt = `WEBVTT

00:00:00.000 --> 00:00:02.000
storyboard-1.jpg#xywh=0,0,160,90

NOTE nothing to see

00:00:02.000 --> 01:00:04.500
storyboard-2.jpg#xywh=160,90,160,90
`

test('tile URLs are relative to the storyboard and keep the token in its path', () => {
  const tiles = readStoryboard(vtt, 'https://v.example.org/delivery/7/k3~to.ken/images/storyboard.vtt')
  const base = 'https://v.example.org/delivery/7/k3~to.ken/images'
  expect(tiles).toEqual([
    { start: 0, end: 2, picture: `${base}/storyboard-1.jpg`, x: 0, y: 0, width: 160, height: 90 },
    { start: 2, end: 3604.5, picture: `${base}/storyboard-2.jpg`, x: 160, y: 90, width: 160, height: 90 },
  ])
  expect([0, 1.99, 2, 9_999].map((seconds) => findTile(tiles, seconds)?.x)).toEqual([0, 0, 160, 160])
})

test('lines can end with a carriage return and a line feed', () => {
  const address = 'https://v.example.org/storyboard.vtt'
  expect(readStoryboard(vtt.replaceAll('\n', '\r\n'), address)).toEqual(readStoryboard(vtt, address))
})

test('a position before the first tile has the first tile', () => {
  const tiles = readStoryboard(vtt.replace('00:00:00.000', '00:00:01.000'), 'https://v.example.org/storyboard.vtt')
  expect(findTile(tiles, 0)?.start).toBe(1)
})

test.each(['', 'WEBVTT', 'not a storyboard\n\n00:00:00.000 --> 00:00:02.000\nwords'])('%j has no tiles', (text) => {
  const tiles = readStoryboard(text, 'https://v.example.org/s.vtt')
  expect([tiles, findTile(tiles, 1)]).toEqual([[], undefined])
})
