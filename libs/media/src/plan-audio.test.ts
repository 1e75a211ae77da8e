import { expect, test } from '@jest/globals'
import { ladder } from './ladder.ts'
import { maxSounds, planAudio } from './plan-audio.ts'
import type { SourceAudio } from './source-probe.ts'

const buildAudioStream = (more: Partial<SourceAudio> = {}): SourceAudio => ({
  ...{ index: 1, codec: 'aac', channels: 2, sampleRate: 48_000, language: '', title: '', isDefault: false, endSeconds: 10 },
  ...more,
})
const rungs = ladder.slice(0, 3)

test.each([
  ['eng', 'en', 'English'],
  ['ger', 'de', 'German'],
  ['deu', 'de', 'German'],
  ['pt-br', 'pt-BR', 'Brazilian Portuguese'],
  ['en-51', 'en', 'English'],
  ['de-1996-1996', 'de', 'German'],
  ['und', '', 'Audio'],
  ['', '', 'Audio'],
  ['qqq', 'qqq', 'Audio'],
])('audio tagged "%s" has the language "%s" and the name %s', (tag, language, name) => {
  expect(planAudio([buildAudioStream({ language: tag })], rungs, 10)?.sounds[0]).toMatchObject({ language, name })
})

test('each audio stream is encoded at each bit rate, and names are unique', () => {
  const sounds = [
    buildAudioStream({ language: 'en' }),
    buildAudioStream({ language: 'en', index: 2 }),
    buildAudioStream({ title: 'Comments', index: 4 }),
    buildAudioStream({ index: 5 }),
  ]
  const planned = planAudio(sounds, rungs, 12)
  expect(planned?.sounds.map(({ name, streamIndex }) => [name, streamIndex])).toEqual([
    ['English', 1],
    ['English (2)', 2],
    ['Comments', 4],
    ['Audio 4', 5],
  ])
  expect(planned?.tracks.filter(({ sound }) => sound < 2)).toEqual([
    { key: 'audio_32', group: 'audio_32', sound: 0, kbps: 32 },
    { key: 'audio_64', group: 'audio_64', sound: 0, kbps: 64 },
    { key: 'audio_32_2', group: 'audio_32', sound: 1, kbps: 32 },
    { key: 'audio_64_2', group: 'audio_64', sound: 1, kbps: 64 },
  ])
  expect(planned?.sounds[0]?.silenceSeconds).toBe(3)
})

test('audio that ends after the video gets only the spare silence, and a source without audio has no audio plan', () => {
  expect(planAudio([buildAudioStream(), buildAudioStream({ endSeconds: 40 })], rungs, 10)?.sounds[1]?.silenceSeconds).toBe(1)
  expect(planAudio([], rungs, 10)).toBeUndefined()
  expect(maxSounds).toBe(8)
})
