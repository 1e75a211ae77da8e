import { expect, test } from '@jest/globals'
import { explainUnusable } from './file-check.ts'

test.each([
  ['a.mp4', 'video/mp4', 1, undefined],
  ['a.mp3', 'audio/mpeg', 1, undefined],
  ['a.mxf', '', 1, undefined],
  ['a.mkv', 'application/octet-stream', 1, undefined],
  ['a.mp4', 'video/mp4', 0, 'empty'],
  ['a.en.srt', 'application/x-subrip', 1, 'caption file'],
  ['a.jpg', 'image/jpeg', 1, 'not a video'],
  ['a.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', 1, 'not a video'],
])('%s of type "%s" with %d bytes: %s', (name, type, size, reason) => {
  const text = explainUnusable({ name, type, size })
  expect(text).toEqual(reason === undefined ? undefined : expect.stringContaining(reason))
})
