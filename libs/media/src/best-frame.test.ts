import { expect, test } from '@jest/globals'
import { bestPicture } from './best-frame.ts'

const [width, height] = [16, 9]

function painted(paint: (x: number, y: number) => number): Uint8Array {
  return Uint8Array.from({ length: width * height }, (_, at) => paint(at % width, Math.floor(at / width)))
}

const black = painted(() => 2)
const white = painted(() => 253)
const scene = painted((x, y) => (x * 37 + y * 91 + x * y * 13) % 256)
const blurred = painted((x, y) => 90 + x * 3 + y)
const night = painted((x, y) => ((x * 37 + y * 91) % 256) >> 4)

test.each([
  ['the middle frame if all are equal', [scene, scene, scene, scene, scene], 2],
  ['the nearest good frame, or the earlier of two', [scene, scene, black, scene, scene], 1],
  ['no blurred frame', [scene, scene, scene, blurred, blurred, scene, scene], 2],
  ['no dark frame', [night, night, night, scene], 3],
  ['no white frame', [white, white, scene, white, white, white], 2],
  ['the middle frame if all are black', [black, black, black], 1],
  ['the only frame', [black], 0],
  ['index 0 if there are no frames', [], 0],
])('chooses %s', (_, pictures, chosen) => {
  expect(bestPicture({ width, height, pictures })).toBe(chosen)
})
