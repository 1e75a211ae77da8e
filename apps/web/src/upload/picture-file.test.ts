import { expect, test } from '@jest/globals'
import { explainUnusablePicture } from './picture-file.ts'

const MIB = 2 ** 20

test.each([
  ['image/jpeg', 10 * MIB],
  ['image/png', 1],
  ['image/webp', MIB],
])('a file of type %s with %i bytes can be a picture', (type, size) => {
  expect(explainUnusablePicture({ name: 'a', type, size })).toBeUndefined()
})

test.each([
  ['image/gif', MIB, '“a” is not a picture of a known kind. Choose a JPEG, PNG or WebP file.'],
  ['', MIB, '“a” is not a picture of a known kind. Choose a JPEG, PNG or WebP file.'],
  ['image/png', 0, '“a” is empty. Choose another file.'],
  ['image/png', 10 * MIB + 1, '“a” is too large. A picture may have 10 MB.'],
])('a file of type %j with %i bytes is rejected', (type, size, text) => {
  expect(explainUnusablePicture({ name: 'a', type, size })).toBe(text)
})
