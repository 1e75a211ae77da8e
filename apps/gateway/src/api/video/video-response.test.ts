import { describe, expect, test } from '@jest/globals'
import { PosterState } from '@vitascope/proto/catalogue/v1/poster'
import { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import { Video, VideoState } from '@vitascope/proto/catalogue/v1/video'
import { callbackName, jsonpReply } from './jsonp.ts'
import { guestVideoResponse, ownVideoResponse, VideoResponse } from './video-response.ts'

const publicUrl = 'https://video.example.org'
const urls = { publicUrl, mediaUrl: publicUrl }

function buildVideo(fields: Partial<Video> = {}): Video {
  return Video.create({
    videoId: '4611686018427387904',
    mediaId: '4611686018427387905',
    organisationId: '2',
    title: 'Launch',
    mediaTitle: 'Launch day',
    description: 'What happened',
    descriptionPrivate: 'Not for everybody',
    enabled: true,
    allowedIps: ['192.0.2.0/24'],
    ipRestricted: true,
    creatorId: '7',
    lastModifiedById: '8',
    createTime: new Date('2026-03-01T09:05:03.250Z'),
    updateTime: new Date('2026-03-02T09:05:03Z'),
    status: { state: VideoState.VIDEO_STATE_ENCODING, progress: 5, code: 2, message: '' },
    ...fields,
  })
}

/** A set of six renditions of a 720p source. */
function buildRenditionSet(fields: Partial<RenditionSet> = {}): RenditionSet {
  const keys = ['h264_100', 'h264_250', 'h264_360', 'h264_500', 'h264_800', 'h264_1200']
  return RenditionSet.create({
    jobId: '3',
    prefix: 'secret/prefix',
    durationSeconds: 12.4804,
    width: 1280,
    height: 720,
    renditions: keys.map((key) => ({ key, path: `${key}.mp4`, width: 1280, height: 720, bytes: 1, bitrate: 1 })),
    hlsPath: 'hls/master.m3u8',
    posterPath: 'poster.jpg',
    thumbnailPath: 'thumbnail.jpg',
    thumbnails: [25, 50, 75].map((percent) => ({ percent, path: `thumbnail-${percent}.jpg` })),
    hasVideo: true,
    hasAudio: true,
    storyboardPath: 'images/storyboard.vtt',
    previewPath: 'images/preview.gif',
    soundPath: 'sound.m4a',
    ...fields,
  })
}

const buildPlayableVideo = () =>
  buildVideo({
    renditions: buildRenditionSet(),
    deliveryVersion: 'k3v9',
    status: { state: VideoState.VIDEO_STATE_OK, progress: 100, code: 2000, message: '' },
  })

test('a video that is not playable yet has every field, empty where unknown', () => {
  expect(guestVideoResponse(buildVideo(), urls)).toEqual({
    video_id: '4611686018427387904',
    media_id: '4611686018427387905',
    organisation_id: '2',
    video_title: 'Launch',
    media_title: 'Launch day',
    description: 'What happened',
    language: '',
    category: '',
    published_width: '',
    published_height: '',
    enabled: '1',
    visibility: 'public',
    duration: '',
    age_rating: '',
    uri: {
      poster_frame: '',
      thumbnail: '',
      http: {},
      download_link: '',
      all_thumbnails: { 25: '', 50: '', 75: '' },
      hls: '',
      storyboard: '',
      preview: '',
      audio: '',
    },
    sharing: { url: 'https://video.example.org/player/4611686018427387904', text: '', embed_within_social: '0' },
    content_expiry: { time: null, message: '' },
    tags: null,
    captions: { data: [], show_on_load: '' },
    overlays: [],
    languages: [],
    chapters: [],
    hd: { allow: '0', auto: '0' },
    javascript_api: null,
    location: null,
    analytics: null,
    events_triggered_by_click: null,
    presentation_id: null,
    monetization: null,
    security: { token_required_platform: false, is_ip_restricted: true },
    metadata: '',
    creator_id: '7',
    last_modified_by_id: '8',
    created_at: '2026-03-01 09:05:03',
    last_modified_at: '2026-03-02 09:05:03',
    setting_id: '',
    theme_id: '',
    contact_form_id: '',
    status: { status: 'encoding', progress: 5, code: 2 },
  })
})

test('the download link is the largest H.264 file, if the setting allows downloads', () => {
  const renditions = buildRenditionSet().renditions.map((rendition, index) => ({ ...rendition, bytes: index === 3 ? 90 : index }))
  const [first] = renditions
  if (!first) throw new Error('the set has renditions')
  const hevc = { ...first, key: 'hevc_4500', path: 'added/9/hevc_4500.mp4', bytes: 9_000 }
  const video = { ...buildPlayableVideo(), renditions: buildRenditionSet({ renditions: [...renditions, hevc] }), downloadAllowed: true }
  const largest = 'https://video.example.org/delivery/4611686018427387904/k3v9/h264_500.mp4'
  expect(guestVideoResponse(video, urls).uri.download_link).toBe(largest)
  expect(guestVideoResponse(video, urls).uri.http['hevc_4500']).toMatch(/\/k3v9\/added\/9\/hevc_4500\.mp4$/)
  expect(guestVideoResponse({ ...video, downloadAllowed: false }, urls).uri.download_link).toBe('')
  expect(guestVideoResponse(buildVideo({ downloadAllowed: true }), urls).uri.download_link).toBe('')
})

test('a playable video lists every rendition under each of its names', () => {
  const { uri, ...response } = guestVideoResponse(buildPlayableVideo(), urls)
  const base = 'https://video.example.org/delivery/4611686018427387904/k3v9'
  expect(uri.http).toEqual({
    vp6_1200: `${base}/h264_1200.mp4`,
    vp6_800: `${base}/h264_800.mp4`,
    vp6_500: `${base}/h264_500.mp4`,
    vp6_250: `${base}/h264_250.mp4`,
    vp6_100: `${base}/h264_100.mp4`,
    h264_1200: `${base}/h264_1200.mp4`,
    h264_800: `${base}/h264_800.mp4`,
    h264_500: `${base}/h264_500.mp4`,
    h264_360: `${base}/h264_360.mp4`,
    h264_250: `${base}/h264_250.mp4`,
    h264_100: `${base}/h264_100.mp4`,
    m4v_1024: `${base}/h264_1200.mp4`,
    m4v_256: `${base}/h264_250.mp4`,
    mobile_360: `${base}/h264_360.mp4`,
  })
  expect(uri).toMatchObject({
    poster_frame: `${base}/poster.jpg`,
    thumbnail: `${base}/thumbnail.jpg`,
    hls: `${base}/hls/master.m3u8`,
    storyboard: `${base}/images/storyboard.vtt`,
    preview: `${base}/images/preview.gif`,
    audio: `${base}/sound.m4a`,
    all_thumbnails: { 25: `${base}/thumbnail-25.jpg`, 50: `${base}/thumbnail-50.jpg`, 75: `${base}/thumbnail-75.jpg` },
  })
  expect(response).toMatchObject({
    duration: '12.48',
    published_width: '1280',
    published_height: '720',
    status: { status: 'ok', progress: 100, code: 2000 },
  })
})

describe('a picture that was set', () => {
  const poster = {
    ...{ state: PosterState.POSTER_STATE_FAILED, code: 4002, reason: 'the picture is damaged' },
    poster: { path: 'posters/7/poster.jpg', width: 1280, height: 720 },
    thumbnail: { path: 'posters/7/thumbnail.jpg', width: 426, height: 240 },
  }
  const base = `${urls.mediaUrl}/delivery/4611686018427387904/k3v9`

  test('replaces the images of the set, also after a later picture failed and before there is a set', () => {
    for (const video of [buildPlayableVideo(), buildVideo({ deliveryVersion: 'k3v9' })]) {
      const { uri } = guestVideoResponse({ ...video, poster }, urls)
      expect([uri.poster_frame, uri.thumbnail]).toEqual([`${base}/posters/7/poster.jpg`, `${base}/posters/7/thumbnail.jpg`])
    }
  })

  test('has a state that only its organisation sees', () => {
    const video = { ...buildPlayableVideo(), poster }
    expect(ownVideoResponse(video, urls).poster).toEqual({ status: 'failed', code: 4002, reason: 'the picture is damaged' })
    expect(ownVideoResponse(buildPlayableVideo(), urls).poster).toBeNull()
    expect(guestVideoResponse(video, urls)).not.toHaveProperty('poster')
  })
})

test('an audio-only video has no images and no published size', () => {
  const set = buildRenditionSet({ width: 0, height: 0, posterPath: '', thumbnailPath: '', thumbnails: [], hasVideo: false })
  const { uri, published_width } = guestVideoResponse(buildVideo({ renditions: set, deliveryVersion: 'k3v9' }), urls)
  expect([uri.poster_frame, uri.thumbnail, uri.all_thumbnails['25'], published_width]).toEqual(['', '', '', ''])
  expect(uri.http['h264_100']).toMatch(/h264_100\.mp4$/)
})

test('the published size takes precedence over the size of the source', () => {
  const response = guestVideoResponse(
    buildVideo({ renditions: buildRenditionSet(), deliveryVersion: 'k3v9', publishedWidth: 640, publishedHeight: 360 }),
    urls,
  )
  expect([response.published_width, response.published_height]).toEqual(['640', '360'])
})

test('only the owner gets the private description, and no response has storage paths or IP ranges', () => {
  const guest = JSON.stringify(guestVideoResponse(buildPlayableVideo(), urls))
  const own = ownVideoResponse(buildPlayableVideo(), urls)
  expect(guest).not.toContain('Not for everybody')
  expect(own.description_private).toBe('Not for everybody')
  for (const text of [guest, JSON.stringify(own)]) expect(text).not.toMatch(/secret\/prefix|192\.0\.2/)
})

test('stored details are mapped to the public format', () => {
  const response = guestVideoResponse(
    buildVideo({
      tags: ['launch'],
      contentExpiry: { expireTime: new Date('2030-12-31T23:59:59Z'), message: 'Gone' },
      location: { country: 'NL', city: 'Amsterdam', postcode: '1011', latitude: 52.37, longitude: undefined },
      languages: [{ code: 'en', title: 'English' }],
      hd: { allow: true, auto: false },
      monetizationJson: '{"profile":"a"}',
      presentationId: '5',
      tokenRequired: true,
    }),
    urls,
  )
  expect(response).toMatchObject({
    tags: ['launch'],
    content_expiry: { time: '2030-12-31 23:59:59', message: 'Gone' },
    location: { country: 'NL', city: 'Amsterdam', postcode: '1011', latitude: '52.37', longitude: '' },
    languages: [{ code: 'en', title: 'English' }],
    hd: { allow: '1', auto: '0' },
    monetization: { profile: 'a' },
    presentation_id: '5',
    security: { token_required_platform: true, is_ip_restricted: true },
  })
})

test.each([
  [VideoState.VIDEO_STATE_WAITING, 'waiting for encoding'],
  [VideoState.VIDEO_STATE_ENCODING, 'encoding'],
  [VideoState.VIDEO_STATE_OK, 'ok'],
  [VideoState.VIDEO_STATE_FAILED, 'failed'],
])('%s is shown as "%s"', (state, word) => {
  expect(guestVideoResponse(buildVideo({ status: { state, progress: 1, code: 2, message: 'no' } }), urls).status.status).toBe(word)
})

test('every response matches the documented schema', () => {
  for (const video of [buildVideo(), buildPlayableVideo()]) {
    expect(VideoResponse.strict().safeParse(guestVideoResponse(video, urls)).error).toBeUndefined()
    expect(VideoResponse.strict().safeParse(ownVideoResponse(video, urls)).error).toBeUndefined()
  }
})

describe('a JSONP response', () => {
  test.each([['cb'], ['a.b.c.d'], ['$_1.x'], ['x'.repeat(64)]])('accepts the callback name %p', (name) => {
    expect(callbackName.safeParse(name).data).toBe(name)
  })

  test.each([
    ['alert(1)//'],
    ['</script>'],
    ['CWSMIKI0hCD0Up0IZUnnnnnnnn;'],
    ['a.b.c.d.e'],
    ['a..b'],
    ['.a'],
    ['a.'],
    ['1a'],
    ['a[0]'],
    ['a b'],
    ['cb\n'],
    ['ünicode'],
    ['x'.repeat(65)],
    ['x'.repeat(5_000)],
    [''],
    ['\u2028'],
  ])('rejects the callback name %p', (name) => {
    expect(callbackName.safeParse(name).success).toBe(false)
  })

  test('is a comment and one call, with < and & escaped', () => {
    const reply = jsonpReply('cb', { id: '1', message: '</script>\u2028&' })
    expect(reply.body).toBe('/**/cb({"id":"1","message":"\\u003c/script\\u003e\\u2028\\u0026"});')
    expect(reply.headers).toEqual({
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Content-Type': 'text/javascript; charset=utf-8',
    })
  })

  test('is plain JSON without a callback name', () => {
    expect(jsonpReply(undefined, { id: '1' }).body).toEqual({ id: '1' })
  })
})
