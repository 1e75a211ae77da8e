import { expect, test } from '@jest/globals'
import { toPageState } from './page-state.ts'
import { readVideoRecord, type VideoRecord } from './video-record.ts'

const host = 'http://localhost:8080'

function createVideoRecord(overrides: Partial<VideoRecord> = {}): VideoRecord {
  const files = { hls: `${host}/delivery/m/1/master.m3u8`, mp4: `${host}/delivery/m/1/h264_500.mp4`, poster: '' }
  return { ...readVideoRecord({}), title: 'Launch', ...files, state: 'ok', progress: 100, code: 2000, ...overrides }
}

const noFiles = { hls: '', mp4: '' }
test.each([
  ['a complete video', createVideoRecord(), { kind: 'playable', isEncoding: false }],
  [
    'an encoding video with its first segments',
    createVideoRecord({ state: 'encoding', progress: 20 }),
    { kind: 'playable', isEncoding: true },
  ],
  [
    'an encoding video without segments',
    createVideoRecord({ ...noFiles, state: 'encoding', progress: 42.9 }),
    { kind: 'encoding', text: 'Preparing the video: 42 %' },
  ],
  [
    'a waiting video',
    createVideoRecord({ ...noFiles, state: 'waiting for encoding', progress: 0 }),
    { kind: 'encoding', text: 'Waiting to be prepared …' },
  ],
  [
    'a failed video whose source is not a video',
    createVideoRecord({ ...noFiles, state: 'failed', code: 4002 }),
    { kind: 'message', detail: 'Its source is not a video that can be read.' },
  ],
  [
    'a video that failed in the platform',
    createVideoRecord({ ...noFiles, state: 'failed', code: 5001 }),
    { kind: 'message', detail: 'It could not be prepared.', canRetry: false },
  ],
  [
    'a protected video',
    createVideoRecord({ tokenRequired: true }),
    { kind: 'message', heading: 'This video is protected', canRetry: false },
  ],
])('toPageState returns the matching state for %s', (_, record, expected) => {
  expect(toPageState({ record }, false)).toMatchObject(expected)
})

test('a protected video is playable with a token', () => {
  expect(toPageState({ record: createVideoRecord({ tokenRequired: true }) }, true)).toMatchObject({ kind: 'playable' })
})

test.each([
  [
    'an expired video with a message of its owner',
    { status: 404, code: 'video_expired', detail: 'The sale is over.' },
    { heading: 'This video is no longer available', detail: 'The sale is over.', canRetry: false },
  ],
  [
    'an expired video without a message of its owner',
    { status: 404, code: 'video_expired', detail: 'this video is no longer available' },
    { heading: 'This video is no longer available', detail: '', canRetry: false },
  ],
  [
    'an unknown video',
    { status: 404, code: 'video_not_found', detail: 'no video 6009' },
    { heading: 'This video is not available', detail: 'It may have been removed, or its address is wrong.', canRetry: false },
  ],
  ['a busy server', { status: 503, code: '', detail: 'shed' }, { canRetry: true }],
  ['too many requests', { status: 429, code: '', detail: '' }, { canRetry: true }],
  ['a rejected request', { status: 403, code: '', detail: '' }, { heading: 'This video is protected' }],
  ['an unreachable server', { unreachable: true } as const, { canRetry: true }],
])('toPageState returns the matching message for %s', (_, response, expected) => {
  expect(toPageState(response, false)).toMatchObject({ kind: 'message', ...expected })
})
