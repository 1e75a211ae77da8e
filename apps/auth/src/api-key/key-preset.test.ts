import { expect, test } from '@jest/globals'
import { selectPreset } from './key-preset.ts'

const resources = ['apikey::get', 'job::get', 'oauth::get', 'queue-job::get', 'video::get', 'video::post', 'video::put'].map((name) => ({
  name,
  openToUsers: name !== 'job::get',
}))

test('the preset read has no reads that return secrets or remove what they return', () => {
  expect(selectPreset('read', resources, false)).toEqual(['job::get', 'video::get'])
})

test('a preset has only what exists and what an uploader may have', () => {
  expect(selectPreset('upload', resources, true)).toEqual(['video::get', 'video::post', 'video::put'])
  expect(selectPreset('playback', resources, false)).toEqual(['video::get', 'video::post'])
})
