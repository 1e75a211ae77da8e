import { expect, test } from '@jest/globals'
import { trackOnLoad, wishedTrack } from './show-on-load.ts'

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

test.each([
  ['nothing chosen yet', undefined, 7],
  ['off', 'off', -1],
  ['the same', { name: 'Français', language: 'fr' }, 1],
  ['one of its language under another name', { name: 'Brasil', language: 'pt' }, 2],
  ['one that this video lacks', { name: 'Nederlands', language: 'nl' }, 7],
  ['one without a language', { name: 'Notes', language: '' }, 7],
] as const)('what the viewer chose before: %s', (_, chosen, track) => {
  expect(wishedTrack(tracks, { chosen }, () => 7)).toBe(track)
})
