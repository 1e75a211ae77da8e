import { expect, test } from '@jest/globals'
import { formatClock, formatDuration } from '../dom/clock-text.ts'
import { readPageAddress, withToken } from '../page/page-address.ts'
import { mergeQualities } from '../playback/playback.ts'
import { toPageState } from '../video/page-state.ts'
import { readVideoRecord, type VideoRecord } from '../video/video-record.ts'

const host = 'http://localhost:8080'

function createVideoRecord(overrides: Partial<VideoRecord> = {}): VideoRecord {
  const files = { hls: `${host}/delivery/m/1/master.m3u8`, mp4: `${host}/delivery/m/1/h264_500.mp4`, poster: '' }
  return { ...readVideoRecord({}), title: 'Launch', ...files, state: 'ok', progress: 100, code: 2000, ...overrides }
}

const defaultAddress = {
  ...{ token: undefined, autoplay: false, muted: false, presentation: false, loop: false },
  ...{ start: 0, end: undefined, language: undefined, skin: null },
}

test.each([
  ['/player/v7', { videoId: 'v7' }],
  [
    '/player/v7/?token=a.b&autoplay=1&muted=1&presentation=true',
    { videoId: 'v7', token: 'a.b', autoplay: true, muted: true, presentation: true },
  ],
  ['/player/a%20b?autoplay=0&token=', { videoId: 'a b' }],
  ['/player/%E0%A4%A', { videoId: '%E0%A4%A' }],
  ['/player/', { videoId: '' }],
  ['/player/v7?start=90&end=2m&loop=1&lang=de&player=pug', { videoId: 'v7', start: 90, end: 120, loop: true, language: 'de', skin: 'pug' }],
  ['/player/v7?start=5#t=1h2m3s', { videoId: 'v7', start: 3723 }],
  ['/player/v7#t=1:30,95.5', { videoId: 'v7', start: 90, end: 95.5 }],
  ['/player/v7?start=-4&end=x#t=npt:', { videoId: 'v7' }],
  ['/player/v7?start=10&end=10', { videoId: 'v7', start: 10 }],
])('parses the page URL %s', (path, address) => {
  expect(readPageAddress(host + path)).toEqual({ ...defaultAddress, ...address })
})

test.each([
  ['a URL', `${host}/delivery/x.m3u8`, 't', `${host}/delivery/x.m3u8?token=t`],
  ['a URL with a query, and a token that must be escaped', `${host}/x?v=1`, 'a&b', `${host}/x?v=1&token=a%26b`],
  ['a relative URL', '/delivery/x', 't', `${host}/delivery/x?token=t`],
  ['no URL', '', 't', ''],
  ['a URL, without a token', '/delivery/x', undefined, '/delivery/x'],
])('withToken adds the token to %s', (_, address, token, expected) => {
  expect(withToken(address, token, `${host}/player/v7`)).toBe(expected)
})

test('a video record is parsed, and each missing or malformed field gets its default', () => {
  const json = {
    video_title: 'Launch',
    duration: '61.5',
    language: 'en-GB',
    uri: {
      poster_frame: 'p.jpg',
      storyboard: 's.vtt',
      hls: 'm.m3u8',
      http: { h264_1200: 'big.mp4', h264_360: 'small.mp4' },
      download_link: 'big.mp4',
    },
    sharing: { url: '/player/7' },
    status: { status: 'encoding', progress: 42.5, code: 2 },
    security: { token_required_platform: true },
    captions: { show_on_load: 'fr', data: [] },
    hd: { allow: '0', auto: '1' },
    presentation_id: '9',
    chapters: [{ title: 'Second', start: '20' }, { title: 'No start' }, { title: 'First', start: 10 }],
    player_settings: {
      is_auto_play: '1',
      show_controls: '0',
      autohide_controls: '0',
      show_title_bar: '0',
      captions_default_on: '1',
      allow_sharing: '1',
      lowest_quality_version: '250',
      highest_quality_version: '800',
      password_protected: '1',
      use_javascript_api: '0',
      javascript_api_allowed_domains: 'a.example, *.b.example',
      rolls: '{"pre":["3"],"post":[],"show_timer":true}',
    },
    theme: { text_colour: '#112233', icon_colour: '', control_bar_colour: 'red;x', skin: 'flat' },
  }
  expect(readVideoRecord(json)).toEqual({
    ...{ title: 'Launch', poster: 'p.jpg', hls: 'm.m3u8', mp4: 'small.mp4', state: 'encoding', progress: 42.5, code: 2, duration: 61.5 },
    ...{ tokenRequired: true, captionsOnLoad: 'fr', language: 'en-GB', hd: { allow: false, auto: true } },
    ...{ downloadLink: 'big.mp4', shareAddress: '/player/7', overlays: [], presentationId: '9', storyboard: 's.vtt' },
    chapters: [
      { title: '', start: 0 },
      { title: 'First', start: 10 },
      { title: 'Second', start: 20 },
    ],
    settings: {
      ...{ autoplay: true, controls: false, autohide: false, titleBar: false, captionsOn: true, sharing: true },
      ...{ lowestQuality: 250, highestQuality: 800, passwordProtected: true },
      rolls: { pre: ['3'], post: [], showTimer: true },
      embedApi: { isEnabled: false, domains: ['a.example', '*.b.example'] },
    },
    theme: { '--ink': '#112233' },
    skin: 'flat',
    contactForm: undefined,
  })
  const defaults = {
    ...{ title: '', poster: '', hls: '', mp4: '', state: '', progress: 0, code: 0, duration: 0, tokenRequired: false, captionsOnLoad: '' },
    ...{
      language: '',
      hd: { allow: true, auto: false },
      chapters: [],
      downloadLink: '',
      shareAddress: '',
      overlays: [],
      presentationId: '',
      storyboard: '',
    },
    settings: {
      ...{ autoplay: false, controls: true, autohide: true, titleBar: true, captionsOn: false, sharing: false },
      ...{ lowestQuality: 0, highestQuality: Number.POSITIVE_INFINITY, passwordProtected: false },
      rolls: { pre: [], post: [], showTimer: false },
      embedApi: { isEnabled: true, domains: [] },
    },
    theme: {},
    skin: '',
    contactForm: undefined,
  }
  for (const malformed of [null, 'text', [false], { uri: 3, status: { progress: 'much' }, video_title: 5, player_settings: null }])
    expect(readVideoRecord(malformed)).toEqual(defaults)
})

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

test('renditions of the same height are one quality, and those without pictures are none', () => {
  const levels = [
    { width: 640, height: 360, bitrate: 360_000 },
    { width: 1280, height: 720, bitrate: 1_200_000 },
    { width: 640, height: 360, bitrate: 500_000 },
    { width: 0, height: 0, bitrate: 64_000 },
  ]
  expect(mergeQualities(levels)).toEqual([
    { id: '1', width: 1280, height: 720 },
    { id: '2', width: 640, height: 360 },
  ])
  expect(mergeQualities(levels.slice(3))).toEqual([])
})

test.each([
  [0, '0:00'],
  [247.9, '4:07'],
  [3723, '1:02:03'],
  [Number.NaN, '0:00'],
  [Number.POSITIVE_INFINITY, '0:00'],
])('%p seconds are shown as %s', (seconds, text) => {
  expect(formatClock(seconds)).toBe(text)
})

test('durations are rounded to seconds', () => {
  expect([11.98, 12.04].map(formatDuration)).toEqual(['0:12', '0:12'])
  expect(formatDuration(Number.NaN)).toBe('0:00')
})
