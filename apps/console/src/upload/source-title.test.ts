import { expect, test } from '@jest/globals'
import { addressTitle, fileTitle } from './source-title.ts'

test.each([
  ['launch.mp4', 'launch'],
  ['launch.final.mov', 'launch.final'],
  ['launch', 'launch'],
  ['.hidden', '.hidden'],
  [`${'a'.repeat(300)}.mp4`, 'a'.repeat(255)],
])('the title of the file %s is %s', (name, title) => {
  expect(fileTitle(name)).toBe(title)
})

test.each([
  ['https://example.org/media/launch%20day.mp4?v=2', 'launch day'],
  ['https://example.org/100%.mp4', '100%'],
  ['https://example.org/', undefined],
  ['launch.mp4', undefined],
])('the title of the address %s is %s', (address, title) => {
  expect(addressTitle(address)).toBe(title)
})
