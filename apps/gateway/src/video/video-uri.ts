import type { Video } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { shown } from '../public-form.ts'

/** The names of older clients for the same files. */
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

const address = (description: string) => shown.text(`${description} Empty until there is one.`)

export const VideoUri = z
  .object({
    poster_frame: address('Large still, JPEG.'),
    thumbnail: address('Small still, JPEG.'),
    http: z.record(z.string(), z.string()).meta({
      description:
        'Progressive MP4 files by rendition: `h264_1200` and the like, and the same files as `m4v_…`, `mobile_…` and `vp6_…`; `hevc_700`, `av1_700` and the like where encoding formats were applied.',
      example: { h264_1200: 'https://video.example.org/delivery/4611686018427387904/k3v9/h264_1200.mp4' },
    }),
    download_link: address('The largest MP4 that every player can open, where the profile that it has allows downloads.'),
    all_thumbnails: z
      .object(Object.fromEntries(stills.map((percent) => [percent, z.string()])))
      .meta({ description: 'Stills at 25, 50 and 75 % of the video.' }),
    hls: address('HLS master playlist.'),
    storyboard: address('WebVTT that tells which part of which picture beside it shows which moment.'),
    preview: address('Animated GIF of a few seconds, where `gif_status` of the media is 1.'),
    audio: address('The sound alone, as M4A (AAC).'),
  })
  .meta({ description: 'Where the files are.' })

function largest(set: Video['renditions']): { path: string } | undefined {
  const ordinary = set?.renditions.filter(({ key }) => key.startsWith('h264_'))
  return ordinary?.reduce((most, rendition) => (rendition.bytes > most.bytes ? rendition : most), { path: '', bytes: 0 })
}

/** Every address of a video's files; empty where there is none. */
export function videoUriView(video: Video, publicUrl: string): z.input<typeof VideoUri> {
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
