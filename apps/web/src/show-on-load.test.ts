import { expect, test } from '@jest/globals'
import { trackOnLoad } from './show-on-load.ts'

const tracks = [
  { name: 'English', language: 'en' },
  { name: 'Français', language: 'fr' },
  { name: 'Português', language: 'pt-BR' },
]

test.each([
  ['nothing said', '', false, -1],
  ['nothing said, and a profile that shows them', '', true, 0],
  ['on', '1', false, 0],
  ['on in words', 'true', false, 0],
  ['off, whatever the profile says', '0', true, -1],
  ['a language', 'fr', false, 1],
  ['a language of a region', 'fr_CA', false, 1],
  ['a region of a language', 'pt', false, 2],
  ['a name', 'français', false, 1],
  ['a language that is not there', 'nl', true, -1],
])('%s', (_, showOnLoad, defaultOn, track) => {
  expect(trackOnLoad(tracks, showOnLoad, defaultOn)).toBe(track)
})

test('there may be none', () => {
  expect(trackOnLoad([], '1', true)).toBe(-1)
})
