import { expect, test } from '@jest/globals'
import { readVideoRecord } from './video-record.ts'

test('every field of a video record is parsed', () => {
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
})

test('each missing or malformed field of a video record gets its default', () => {
  const defaults = {
    ...{ title: '', poster: '', hls: '', mp4: '', state: '', progress: 0, code: 0, duration: 0, tokenRequired: false, captionsOnLoad: '' },
    ...{ language: '', hd: { allow: true, auto: false }, chapters: [], overlays: [] },
    ...{ downloadLink: '', shareAddress: '', presentationId: '', storyboard: '' },
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
