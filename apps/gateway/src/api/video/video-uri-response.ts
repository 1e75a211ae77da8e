import type { Video } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { schema } from '../../server/schema/response-format.ts'

/** Names that older clients use for the same files. */
const aliases = [
  ['vp6_1200', 'h264_1200'],
  ['vp6_800', 'h264_800'],
  ['vp6_500', 'h264_500'],
  ['vp6_250', 'h264_250'],
  ['vp6_100', 'h264_100'],
  ['m4v_1024', 'h264_1200'],
  ['m4v_256', 'h264_250'],
  ['mobile_360', 'h264_360'],
] as const

const stills = ['25', '50', '75'] as const

const folder = 'https://video.example.org/delivery/42/k3v9'
const urlField = (description: string, file: string) => schema.text(`${description} Empty until it exists.`, `${folder}/${file}`)

export const VideoUriResponse = z
  .object({
    poster_frame: urlField(
      'URL of the large JPEG still: your own picture, or else a frame that was selected when the video was encoded.',
      'poster.jpg',
    ),
    thumbnail: urlField('URL of the small JPEG still.', 'thumbnail.jpg'),
    http: z.record(z.string(), z.string()).meta({
      description:
        'URLs of progressive MP4 files by rendition. Keys are `h264_1200` and similar. `m4v_…`, `mobile_…` and `vp6_…` name the same ' +
        'files. Applied encoding formats add keys such as `hevc_700` and `av1_700`.',
      example: { h264_1200: 'https://video.example.org/delivery/42/k3v9/mp4/h264_1200.mp4' },
    }),
    download_link: urlField(
      'URL of the largest MP4 file that every player can open. It is set if the player settings profile of the video allows downloads.',
      'mp4/h264_1200.mp4',
    ),
    all_thumbnails: z
      .object(
        Object.fromEntries(
          stills.map((percent) => [percent, schema.text(`URL of the still at ${percent} %.`, `${folder}/thumbnail-${percent}.jpg`)]),
        ),
      )
      .meta({ description: 'URLs of stills at 25, 50 and 75 % of the video.' }),
    hls: urlField('URL of the HLS master playlist.', 'hls/master.m3u8'),
    storyboard: urlField('URL of the WebVTT storyboard. It maps times to regions of the preview images.', 'storyboard.vtt'),
    preview: urlField('URL of an animated GIF of a few seconds. It is created if `gif_status` of the media is 1.', 'preview.gif'),
    audio: urlField('URL of the audio as M4A (AAC).', 'audio.m4a'),
  })
  .meta({ description: 'URLs of the files.' })

/** Returns the path of the largest H.264 file in bytes, or undefined if the set has none. Every player can open H.264. */
function findLargestMp4(set: Video['renditions']): string | undefined {
  const h264Files = set?.renditions.filter(({ key }) => key.startsWith('h264_')) ?? []
  return h264Files.toSorted((a, b) => b.bytes - a.bytes)[0]?.path
}

/** Returns the URL of a file of a video below `mediaUrl`, the origin of media files. Without a path, it is empty. */
export function formatFileUrl(
  { videoId, deliveryVersion }: Pick<Video, 'videoId' | 'deliveryVersion'>,
  path: string | undefined,
  mediaUrl: string,
): string {
  return path ? `${mediaUrl}/delivery/${videoId}/${deliveryVersion}/${path}` : ''
}

/** Returns the URLs of a video's files below `mediaUrl`, the origin of media files. The URL of a missing file is empty. */
export function videoUriResponse(video: Video, mediaUrl: string): z.input<typeof VideoUriResponse> {
  const set = video.deliveryVersion === '' ? undefined : video.renditions
  const formatUrl = (path: string | undefined) => formatFileUrl(video, path, mediaUrl)
  const files = new Map(set?.renditions.map((rendition) => [rendition.key, formatUrl(rendition.path)]))
  const thumbnails = new Map(set?.thumbnails.map((thumbnail) => [String(thumbnail.percent), formatUrl(thumbnail.path)]))
  const aliasUrls = aliases.flatMap(([name, key]) => (files.has(key) ? [[name, files.get(key) ?? '']] : []))
  return {
    poster_frame: formatUrl(video.poster?.poster?.path || set?.posterPath),
    thumbnail: formatUrl(video.poster?.thumbnail?.path || set?.thumbnailPath),
    http: Object.fromEntries([...aliasUrls, ...files]),
    download_link: video.downloadAllowed ? formatUrl(findLargestMp4(set)) : '',
    all_thumbnails: Object.fromEntries(stills.map((percent) => [percent, thumbnails.get(percent) ?? ''])),
    hls: formatUrl(set?.hlsPath),
    storyboard: formatUrl(set?.storyboardPath),
    preview: formatUrl(set?.previewPath),
    audio: formatUrl(set?.soundPath),
  }
}
