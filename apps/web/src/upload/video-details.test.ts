import { expect, test } from '@jest/globals'
import { parseUpload } from './resumable-uploads.ts'
import { changedDetails, suggestTitle, type VideoDetails } from './video-details.ts'

const stored: VideoDetails = { title: 'Launch', description: '', visibility: 'public' }

test.each([
  ['Launch Ω.mp4', 'Launch Ω'],
  ['summer_2030_final.mov', 'summer 2030 final'],
  ['v1.2 of the talk.mkv', 'v1.2 of the talk'],
  ['.mp4', '.mp4'],
  ['no extension', 'no extension'],
])('%s suggests the title "%s"', (name, title) => expect(suggestTitle(name)).toBe(title))

test('only changed details are sent', () => {
  expect(changedDetails(stored, stored)).toEqual({})
  expect(changedDetails(stored, { title: ' Launch day ', description: 'At noon', visibility: 'private' })).toEqual({
    video_title: 'Launch day',
    media_title: 'Launch day',
    description: 'At noon',
    visibility: 'private',
  })
})

test('a cleared description is sent, and an empty title is not', () =>
  expect(changedDetails({ ...stored, description: 'old' }, { ...stored, title: ' ' })).toEqual({ description: '' }))

test('an incomplete upload is restored with its details, and other texts are ignored', () => {
  const upload = { path: '/v2/upload/tus/a', stored, wanted: { ...stored, title: 'Launch day' } }
  expect(parseUpload(JSON.stringify(upload))).toEqual(upload)
  for (const text of ['', '/v2/upload/tus/a', '{}', JSON.stringify({ ...upload, path: 'https://example.org' })]) {
    expect(parseUpload(text)).toBeUndefined()
  }
  expect(parseUpload(JSON.stringify({ ...upload, wanted: { visibility: 'hidden' } }))).toBeUndefined()
})
