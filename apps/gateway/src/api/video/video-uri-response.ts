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

const address = (description: string) => schema.text(`${description} Empty until it exists.`)

export const VideoUriResponse = z
  .object({
    poster_frame: address('URL of the large JPEG still.'),
    thumbnail: address('URL of the small JPEG still.'),
    http: z.record(z.string(), z.string()).meta({
      description:
        'URLs of progressive MP4 files by rendition. Keys are `h264_1200` and similar. `m4v_…`, `mobile_…` and `vp6_…` name the same ' +
        'files. Applied encoding formats add keys such as `hevc_700` and `av1_700`.',
      example: { h264_1200: 'https://video.example.org/delivery/4611686018427387904/k3v9/h264_1200.mp4' },
    }),
    download_link: address(
      'URL of the largest MP4 file that every player can open. It is set if the player settings profile of the video allows downloads.',
    ),
    all_thumbnails: z
      .object(Object.fromEntries(stills.map((percent) => [percent, z.string()])))
      .meta({ description: 'URLs of stills at 25, 50 and 75 % of the video.' }),
    hls: address('URL of the HLS master playlist.'),
    storyboard: address('URL of the WebVTT storyboard. It maps times to regions of the preview images.'),
    preview: address('URL of an animated GIF of a few seconds. It is created if `gif_status` of the media is 1.'),
    audio: address('URL of the audio as M4A (AAC).'),
  })
  .meta({ description: 'URLs of the files.' })

function largest(set: Video['renditions']): { path: string } | undefined {
  const ordinary = set?.renditions.filter(({ key }) => key.startsWith('h264_'))
  return ordinary?.reduce((most, rendition) => (rendition.bytes > most.bytes ? rendition : most), { path: '', bytes: 0 })
}

/** Returns every URL of a video's files. A missing file has an empty URL. */
export function videoUriResponse(video: Video, publicUrl: string): z.input<typeof VideoUriResponse> {
  const set = video.deliveryVersion === '' ? undefined : video.renditions
  const base = `${publicUrl}/delivery/${video.videoId}/${video.deliveryVersion}`
  const addressOf = (path: string | undefined) => (path ? `${base}/${path}` : '')
  const files = new Map(set?.renditions.map((rendition) => [rendition.key, addressOf(rendition.path)]))
  const thumbnails = new Map(set?.thumbnails.map((still) => [String(still.percent), addressOf(still.path)]))
  const renamed = aliases.flatMap(([name, key]) => (files.has(key) ? [[name, files.get(key) ?? '']] : []))
  return {
    poster_frame: addressOf(set?.posterPath),
    thumbnail: addressOf(set?.thumbnailPath),
    http: Object.fromEntries([...renamed, ...files]),
    download_link: video.downloadAllowed ? addressOf(largest(set)?.path) : '',
    all_thumbnails: Object.fromEntries(stills.map((percent) => [percent, thumbnails.get(percent) ?? ''])),
    hls: addressOf(set?.hlsPath),
    storyboard: addressOf(set?.storyboardPath),
    preview: addressOf(set?.previewPath),
    audio: addressOf(set?.soundPath),
  }
}
