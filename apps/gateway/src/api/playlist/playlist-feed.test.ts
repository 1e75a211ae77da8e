// Faults: B15
import { describe, expect, test } from '@jest/globals'
import { parseFeed } from '@rowanmanning/feed-parser'
import { Playlist } from '@vitascope/proto/catalogue/v1/playlist'
import { Video, VideoState } from '@vitascope/proto/catalogue/v1/video'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { playlistFeed } from './playlist-feed.ts'

const publicUrl = 'https://video.example.org'
const urls = { publicUrl, mediaUrl: publicUrl }

function buildVideo(overrides: Parameters<typeof Video.fromPartial>[0] = {}): Video {
  return Video.fromPartial({
    videoId: '4611686018427387905',
    title: 'Launch day',
    description: 'First <b>line</b>\nsecond & last',
    tags: ['launch', 'moon & mars'],
    language: 'en-GB',
    createTime: new Date('2030-01-02T03:04:05Z'),
    updateTime: new Date('2030-01-03T00:00:00Z'),
    status: { state: VideoState.VIDEO_STATE_OK, progress: 100, code: 2000, message: '' },
    deliveryVersion: 'k3v9',
    renditions: {
      durationSeconds: 12.4804,
      renditions: [
        { key: 'h264_250', path: 'mp4/h264_250.mp4', width: 426, height: 240, bytes: 2_000, bitrate: 240_000 },
        { key: 'h264_1200', path: 'mp4/h264_1200.mp4', width: 1280, height: 720, bytes: 9_000, bitrate: 1_199_600 },
      ],
      hlsPath: 'hls/master.m3u8',
      thumbnailPath: 'thumbnail.jpg',
    },
    ...overrides,
  })
}

function buildPlaylist(overrides: Partial<Playlist> = {}): Playlist {
  return Playlist.create({
    playlistId: '77',
    title: 'Launches',
    description: 'All of them',
    updateTime: new Date('2030-01-04T00:00:00Z'),
    ...overrides,
  })
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  trimValues: false,
  parseTagValue: false,
  htmlEntities: true,
})
const parseChannel = (feed: string) => parser.parse(feed).rss.channel

test('a feed is RSS 2.0 with Media RSS', () => {
  const feed = playlistFeed(buildPlaylist(), [buildVideo()], urls)
  expect(XMLValidator.validate(feed)).toBe(true)
  const channel = parseChannel(feed)
  expect(channel).toMatchObject({
    title: 'Launches',
    link: `${publicUrl}/player/77`,
    description: 'All of them',
    lastBuildDate: 'Fri, 04 Jan 2030 00:00:00 GMT',
    'atom:link': { href: `${publicUrl}/v2/playlist/rss/77`, rel: 'self', type: 'application/rss+xml' },
  })
  const page = `${publicUrl}/player/4611686018427387905`
  const base = `${publicUrl}/delivery/4611686018427387905/k3v9`
  const video = { type: 'video/mp4', medium: 'video', duration: '12.48', lang: 'en-GB' }
  expect(channel.item).toEqual({
    title: 'Launch day',
    link: page,
    guid: { '#text': '4611686018427387905', isPermaLink: 'false' },
    pubDate: 'Wed, 02 Jan 2030 03:04:05 GMT',
    description: 'First &lt;b&gt;line&lt;/b&gt;<br>second &amp; last',
    category: ['launch', 'moon & mars'],
    enclosure: { url: `${base}/mp4/h264_1200.mp4`, length: '9000', type: 'video/mp4' },
    'media:group': {
      'media:content': [
        { url: `${base}/mp4/h264_1200.mp4`, fileSize: '9000', ...video, isDefault: 'true', bitrate: '1200', height: '720', width: '1280' },
        { url: `${base}/mp4/h264_250.mp4`, fileSize: '2000', ...video, isDefault: 'false', bitrate: '240', height: '240', width: '426' },
        { url: `${base}/hls/master.m3u8`, ...video, type: 'application/vnd.apple.mpegurl' },
      ],
    },
    'media:title': { '#text': 'Launch day', type: 'plain' },
    'media:description': { '#text': 'First <b>line</b>\nsecond & last', type: 'plain' },
    'media:thumbnail': { url: `${base}/thumbnail.jpg` },
    'media:player': { url: page },
  })
})

test('a feed reader finds the files of every item', () => {
  const videos = ['5', '6', '5'].map((videoId) => buildVideo({ videoId, title: `Video ${videoId}` }))
  const feed = parseFeed(playlistFeed(buildPlaylist(), videos, urls))
  expect(feed).toMatchObject({
    title: 'Launches',
    description: 'All of them',
    url: `${publicUrl}/player/77`,
    self: `${publicUrl}/v2/playlist/rss/77`,
  })
  expect(feed.items.map(({ id, title, url }) => ({ id, title, url }))).toEqual([
    { id: '5', title: 'Video 5', url: `${publicUrl}/player/5` },
    { id: '6', title: 'Video 6', url: `${publicUrl}/player/6` },
    // The same video again. Feed readers would drop an item with the same guid.
    { id: '5.2', title: 'Video 5', url: `${publicUrl}/player/5` },
  ])
  for (const [index, { media, published, image }] of feed.items.entries()) {
    expect(published).toEqual(new Date('2030-01-02T03:04:05Z'))
    const base = `${publicUrl}/delivery/${videos[index]?.videoId}/k3v9`
    expect(media).toContainEqual(expect.objectContaining({ url: `${base}/mp4/h264_1200.mp4`, mimeType: 'video/mp4', length: 9_000 }))
    expect(image?.url).toBe(`${base}/thumbnail.jpg`)
  }
})

test.each([
  ['that needs a token', { tokenRequired: true }],
  ['that does not play yet', { deliveryVersion: '' }],
])('a video %s has a page link and no file', (_, overrides) => {
  const feed = playlistFeed(buildPlaylist(), [buildVideo(overrides)], urls)
  expect(feed).not.toContain('/delivery/')
  expect(parseFeed(feed).items[0]).toMatchObject({ title: 'Launch day', url: `${publicUrl}/player/4611686018427387905`, media: [] })
})

test('a playlist without title, description and videos is a valid feed', () => {
  const feed = parseFeed(playlistFeed(buildPlaylist({ title: ' ', description: '' }), [], urls))
  expect(feed).toMatchObject({ title: 'Playlist 77', description: 'Playlist 77', items: [] })
})

describe('1,000 hostile titles', () => {
  const titles = hostileTitles(1_000)
  // Characters that XML 1.0 cannot represent become U+FFFD. All others round-trip unchanged.
  const isWritable = (character: string) => /[\t\n\r]|[^\p{Cc}\ufffe\uffff]|[\u007f-\u009f]/u.test(character)
  const toXmlText = (text: string) => [...text].map((character) => (isWritable(character) ? character : '\ufffd')).join('')
  const playlistWithTexts = (text: string) => buildPlaylist({ title: text, description: text })
  const videos = titles.map((title, index) =>
    buildVideo({ videoId: String(index + 1), title, description: title, tags: [title], language: title }),
  )
  const feed = playlistFeed(playlistWithTexts(titles.join(' ')), videos, urls)

  test('produce a well-formed document without a DTD that preserves every title', () => {
    expect(XMLValidator.validate(feed)).toBe(true)
    expect(feed.match(/<!|<\?(?!xml version="1.0" encoding="UTF-8"\?>)/g)).toBeNull()
    const { item } = parseChannel(feed)
    expect(item).toHaveLength(1_000)
    for (const [index, title] of titles.entries()) {
      const expected = toXmlText(title)
      expect([item[index].title, item[index]['media:title']['#text'], item[index].category]).toEqual([expected, expected, expected])
      expect(item[index]['media:group']['media:content'][0].lang).toBe(expected)
      // A description is decoded again, as HTML.
      expect(item[index].description).not.toMatch(/<(?!br>)/)
    }
  })

  test('one at a time, produce a well-formed feed with one item', () => {
    for (const [index, title] of titles.entries()) {
      const alone = playlistFeed(playlistWithTexts(title), videos.slice(index, index + 1), urls)
      expect([title, XMLValidator.validate(alone)]).toEqual([title, true])
      expect(parseFeed(alone).items).toHaveLength(1)
    }
  })

  test('are parsed by a feed reader', () => {
    const { items } = parseFeed(feed)
    expect(items.map(({ id }) => id)).toEqual(videos.map(({ videoId }) => videoId))
    const plain = titles.flatMap((title, index) => (/^[\w ]*$/.test(title) ? [index] : []))
    expect(plain.length).toBeGreaterThan(10)
    for (const index of plain) expect(items[index]?.title).toBe(titles[index]?.trim())
  })
})

/**
 * Returns texts that break feeds, alone and in all pairs, and each character with a special meaning
 * in XML.
 */
function hostileTitles(count: number): string[] {
  const pieces = [
    ']]>',
    ']]>]]>',
    '<![CDATA[',
    '&',
    '&amp;',
    '&#0;',
    '&#x1f600;',
    '&lol;',
    '<script>alert(1)</script>',
    '</title></item><item>',
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    '<?xml version="1.0"?>',
    '<!--',
    '-->',
    '"\'',
    "' onload='alert(1)",
    '\0x'.slice(1),
    '\u0001',
    '\u0008',
    '\u000b\u000c',
    '\u001b[31m',
    '\u007f\u0085',
    '\r\n',
    '\t',
    '\u2028\u2029',
    '\ufeff',
    '\ufffe\uffff',
    '\u{1f600}\u200d\u{1f525}',
    '\u{10ffff}',
    'مرحبا \u202e abc',
    'plain words',
    'AT_T 1999',
  ]
  const pairs = pieces.flatMap((a) => pieces.map((b) => `${a}x${b}`))
  const controls = Array.from({ length: 0x20 }, (_, code) => `a${String.fromCharCode(code)}b`)
  const plain = Array.from({ length: 40 }, (_, index) => `Launch ${index}`)
  return [...plain, ...controls, ...pieces, ...pairs].slice(0, count)
}

test('the enclosure is an H.264 file, even if other files are larger', () => {
  const renditions = [
    { key: 'hevc_4500', path: 'added/9/hevc_4500.mp4', width: 3840, height: 2160, bytes: 50_000, bitrate: 4_400_000 },
    { key: 'h264_1200', path: 'mp4/h264_1200.mp4', width: 1280, height: 720, bytes: 9_000, bitrate: 1_199_600 },
  ]
  const feed = playlistFeed(buildPlaylist(), [buildVideo({ renditions: { renditions } })], urls)
  expect(feed).toMatch(/<enclosure url="[^"]*h264_1200\.mp4"/)
  expect(feed).toMatch(/<media:content url="[^"]*hevc_4500\.mp4"[^>]*isDefault="false"/)
})
