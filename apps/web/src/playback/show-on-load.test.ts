import { expect, test } from '@jest/globals'
import { findInitialTrack, findPreferredTrack } from './show-on-load.ts'

const tracks = [
  { name: 'English', language: 'en' },
  { name: 'Français', language: 'fr' },
  { name: 'Português', language: 'pt-BR' },
]

test.each([
  ['nothing configured', '', false, -1],
  ['nothing configured, but shown by the profile', '', true, 0],
  ['on', '1', false, 0],
  ['on, written as true', 'true', false, 0],
  ['off, but shown by the profile', '0', true, -1],
  ['a language', 'fr', false, 1],
  ['a language with another region', 'fr_CA', false, 1],
  ['a language without a region', 'pt', false, 2],
  ['a name', 'français', false, 1],
  ['a language without a track', 'nl', true, -1],
])('captions shown on load: %s', (_, showOnLoad, defaultOn, track) => {
  expect(findInitialTrack(tracks, showOnLoad, defaultOn)).toBe(track)
})

test('a video without captions shows none', () => {
  expect(findInitialTrack([], '1', true)).toBe(-1)
})

test.each([
  ['no choice yet', undefined, 7],
  ['off', 'off', -1],
  ['the same track', { name: 'Français', language: 'fr' }, 1],
  ['a track of the same language with another name', { name: 'Brasil', language: 'pt' }, 2],
  ['a track that this video does not have', { name: 'Nederlands', language: 'nl' }, 7],
  ['a track without a language', { name: 'Notes', language: '' }, 7],
] as const)('captions after an earlier choice of the viewer: %s', (_, chosenTrack, track) => {
  expect(findPreferredTrack(tracks, { chosenTrack }, () => 7)).toBe(track)
})
