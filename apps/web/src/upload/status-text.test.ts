import { expect, test } from '@jest/globals'
import { formatAnnouncement, formatUpload } from './status-text.ts'
import type { UploadState } from './upload-item.ts'

const file = { size: 100e6 } as File
const item = (state: UploadState, sentBytes = 0, rate = 0) => ({ state, sentBytes, rate, file })

test.each<[UploadState, number, string, string]>([
  [{ kind: 'waiting' }, 0, 'Waiting for its turn', ''],
  [{ kind: 'uploading', waiting: undefined }, 0, 'Starting …', 'Uploading'],
  [{ kind: 'uploading', waiting: undefined }, 49e6, '49.0 MB of 100.0 MB, about 30 seconds left', '25 % uploaded'],
  [{ kind: 'uploading', waiting: 'busy' }, 49e6, 'The server is busy. The upload continues by itself.', 'The server is busy.'],
  [{ kind: 'uploading', waiting: 'unreachable' }, 49e6, 'Connection lost.', 'Connection lost.'],
  [{ kind: 'paused' }, 49e6, 'Paused. You can continue within a day', 'Paused'],
  [{ kind: 'creating', waiting: undefined }, 100e6, 'The video is being created …', 'Uploaded'],
  [{ kind: 'uploaded', videoId: '1' }, 100e6, 'The video waits to be prepared.', 'Uploaded'],
  [{ kind: 'failed', text: 'This file is empty.' }, 0, '', 'This file is empty.'],
])('%j with %d bytes', (state, sentBytes, text, announcement) => {
  expect(formatUpload(item(state, sentBytes, 51e6 / 30), true)).toContain(text)
  expect(formatAnnouncement(item(state, sentBytes))).toContain(announcement)
})

test('without a key, files wait for it', () => expect(formatUpload(item({ kind: 'waiting' }), false)).toBe('Waiting for your access key'))
