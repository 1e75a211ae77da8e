import type { Playlist } from '@vitascope/proto/catalogue/v1/playlist'
import type { Rendition } from '@vitascope/proto/catalogue/v1/rendition'
import type { Video } from '@vitascope/proto/catalogue/v1/video'
import { escapeHtml } from '../../server/http/page.ts'
import { element, type Markup, xmlDocument } from '../../server/http/xml.ts'
import type { PublicUrls } from '../../server/route/route.ts'
import { formatSeconds } from '../../server/schema/response-format.ts'
import { videoUriResponse } from '../video/video-uri-response.ts'

export const FEED_TYPE = 'application/rss+xml'

/**
 * Returns RSS 2.0 with Media RSS of the public part of a playlist. The output is deterministic,
 * byte for byte.
 */
export function playlistFeed(playlist: Playlist, videos: readonly Video[], urls: PublicUrls): string {
  const { publicUrl } = urls
  const { playlistId } = playlist
  const title = playlist.title.trim() === '' ? `Playlist ${playlistId}` : playlist.title
  const self = { href: `${publicUrl}/v2/playlist/rss/${playlistId}`, rel: 'self', type: FEED_TYPE }
  const changed = [playlist, ...videos].map(({ updateTime }) => updateTime?.getTime() ?? 0)
  const channel = element(
    'channel',
    {},
    element('title', {}, title),
    element('link', {}, `${publicUrl}/player/${playlistId}`),
    element('description', {}, html(playlist.description || title)),
    element('lastBuildDate', {}, new Date(Math.max(...changed)).toUTCString()),
    element('generator', {}, 'Vitascope'),
    element('atom:link', self),
    ...videos.map((video, index) => item(video, formatGuid(videos, index), urls)),
  )
  const namespaces = { 'xmlns:atom': 'http://www.w3.org/2005/Atom', 'xmlns:media': 'http://search.yahoo.com/mrss/' }
  return xmlDocument(element('rss', { version: '2.0', ...namespaces }, channel))
}

/** Feed readers show each guid once, so a repeated video gets a guid of its own. */
function formatGuid(videos: readonly Video[], index: number): string {
  const videoId = videos[index]?.videoId ?? ''
  const before = videos.slice(0, index).filter((video) => video.videoId === videoId).length
  return before === 0 ? videoId : `${videoId}.${before + 1}`
}

function item(video: Video, guid: string, { publicUrl, mediaUrl }: PublicUrls): Markup {
  const page = `${publicUrl}/player/${video.videoId}`
  const { thumbnail } = videoUriResponse(video, mediaUrl)
  return element(
    'item',
    {},
    element('title', {}, video.title),
    element('link', {}, page),
    element('guid', { isPermaLink: 'false' }, guid),
    video.createTime && element('pubDate', {}, video.createTime.toUTCString()),
    element('description', {}, html(video.description)),
    ...video.tags.map((tag) => element('category', {}, tag)),
    // Feed readers cannot open a file that requires a token. Only the page is linked then.
    ...(video.tokenRequired ? [] : files(video, mediaUrl)),
    element('media:title', { type: 'plain' }, video.title),
    element('media:description', { type: 'plain' }, video.description),
    thumbnail === '' || video.tokenRequired ? undefined : element('media:thumbnail', { url: thumbnail }),
    element('media:player', { url: page }),
  )
}

/**
 * Returns the largest MP4 that every player can open as the enclosure, and all files as one group.
 */
function files(video: Video, mediaUrl: string): Markup[] {
  const { http, hls } = videoUriResponse(video, mediaUrl)
  const renditions = [...(video.renditions?.renditions ?? [])].sort((a, b) => b.bitrate - a.bitrate)
  const defaultRendition = renditions.find(({ key }) => key.startsWith('h264_'))
  const address = defaultRendition && http[defaultRendition.key]
  if (!defaultRendition || !address) return []
  const duration = formatSeconds(video.renditions?.durationSeconds ?? 0)
  const lang = video.language || undefined
  const content = (rendition: Rendition) =>
    element('media:content', {
      url: http[rendition.key],
      fileSize: String(rendition.bytes),
      type: 'video/mp4',
      medium: 'video',
      isDefault: String(rendition === defaultRendition),
      // In kbit/s. Our own value is in bit/s.
      bitrate: String(Math.round(rendition.bitrate / 1_000)),
      duration,
      height: rendition.height > 0 ? String(rendition.height) : undefined,
      width: rendition.width > 0 ? String(rendition.width) : undefined,
      lang,
    })
  const stream =
    hls === '' ? undefined : element('media:content', { url: hls, type: 'application/vnd.apple.mpegurl', medium: 'video', duration, lang })
  return [
    element('enclosure', { url: address, length: String(defaultRendition.bytes), type: 'video/mp4' }),
    element('media:group', {}, ...renditions.map(content), stream),
  ]
}

/** Converts plain text to HTML, which RSS requires for descriptions. */
function html(text: string): string {
  return escapeHtml(text).replaceAll('\n', '<br>')
}
