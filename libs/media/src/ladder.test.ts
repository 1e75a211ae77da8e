import { describe, expect, test } from '@jest/globals'
import { aliasKeys, defaultKeys, ladder, sizeFor, standardKeys, videoKbps } from './ladder.ts'

const sizesFor = (width: number, height: number) =>
  ladder.slice(0, 6).map((rung) => Object.values(sizeFor(rung, { width, height })).join('x'))

describe('the size of each rung', () => {
  test.each([
    ['a landscape source', 1920, 1080, ['256x144', '426x240', '640x360', '640x360', '854x480', '1280x720']],
    ['a portrait source (its shorter side counts)', 1080, 1920, ['144x256', '240x426', '360x640', '360x640', '480x854', '720x1280']],
    ['a source smaller than the rungs', 320, 240, ['192x144', '320x240', '320x240', '320x240', '320x240', '320x240']],
    ['an odd source', 641, 361, ['256x144', '426x240', '640x360', '640x360', '640x360', '640x360']],
    ['a tiny source', 1, 3, ['2x2', '2x2', '2x2', '2x2', '2x2', '2x2']],
    ['a very wide source', 7680, 480, ['576x36', '960x60', '1440x90', '1440x90', '1920x120', '2880x180']],
  ])('of %s', (_, width, height, expected) => {
    expect(sizesFor(width, height)).toEqual(expected)
  })

  test("is even, at most the source's, and keeps its aspect ratio", () => {
    for (let width = 16; width < 4000; width += 97) {
      for (let height = 16; height < 4000; height += 89) {
        for (const rung of ladder) {
          const size = sizeFor(rung, { width, height })
          expect([size.width % 2, size.height % 2]).toEqual([0, 0])
          expect(size.width <= width && size.height <= height).toBe(true)
          expect(Math.abs(size.width - (size.height * width) / height)).toBeLessThanOrEqual(2 + (2 * width) / height)
        }
      }
    }
  })
})

test.each([
  ['audio only', undefined, 6],
  ['720p', { width: 1280, height: 720 }, 6],
  ['a slightly larger source', { width: 1366, height: 768 }, 7],
  ['1080p', { width: 1920, height: 1080 }, 7],
  ['a portrait source 1080 pixels wide', { width: 1080, height: 1920 }, 7],
  ['1440p', { width: 2560, height: 1440 }, 8],
  ['2160p', { width: 3840, height: 2160 }, 9],
])('%s gets the first six rungs, and the higher ones that it reaches', (_, source, rungs) => {
  expect(defaultKeys(source)).toEqual(ladder.slice(0, rungs).map(({ key }) => key))
})

test('every bit rate reserves space for the audio and the container', () => {
  for (const rung of ladder) {
    for (const rate of [10, 25, 60]) expect(videoKbps(rung, rate, true) + rung.audioKbps).toBeLessThan(rung.label)
    expect(videoKbps(rung, 60, true)).toBeGreaterThan(45)
  }
})

test('the alias names refer to renditions that every source gets', () => {
  expect(Object.values(aliasKeys).filter((key) => !standardKeys.includes(key))).toEqual([])
  expect(aliasKeys).toMatchObject({ m4v_256: 'h264_250', m4v_1024: 'h264_1200', mobile_360: 'h264_360', vp6_800: 'h264_800' })
})
