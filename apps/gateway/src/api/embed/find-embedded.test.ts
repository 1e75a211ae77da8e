import { expect, test } from '@jest/globals'
import { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import { resolvePicture } from './find-embedded.ts'

const source = (width: number, height: number) => RenditionSet.fromPartial({ width, height })

test.each([
  ['published width and height', { publishedWidth: 100, publishedHeight: 50 }, source(1_920, 1_080), { width: 100, height: 50 }],
  ['published width only', { publishedWidth: 800 }, source(1_000, 500), { width: 800, height: 400 }],
  ['published height only', { publishedHeight: 300 }, source(1_000, 500), { width: 600, height: 300 }],
  ['nothing published, so the size of the source', {}, source(1_920, 1_080), { width: 1_920, height: 1_080 }],
  ['small source, so the minimum width for the controls', {}, source(160, 120), { width: 640, height: 480 }],
  ['published width, no renditions yet', { publishedWidth: 320 }, undefined, { width: 320, height: 180 }],
  ['audio only', {}, source(0, 0), { width: 640, height: 360 }],
])('frame size: %s', (_, published, renditions, picture) => {
  const { publishedWidth, publishedHeight }: { publishedWidth?: number; publishedHeight?: number } = published
  expect(resolvePicture({ publishedWidth, publishedHeight, renditions })).toEqual(picture)
})
