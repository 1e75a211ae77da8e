import type { Media } from '@vitascope/proto/catalogue/v1/media'
import { z } from 'zod'
import { shown } from '../public-form.ts'

export const MediaRecord = z
  .object({
    media_id: shown.id('media'),
    original_filename: shown.text('As its address or uploader gave it.', 'launch.mp4'),
    encoded_filename: z.array(z.string()).meta({ description: 'The files that play.', example: ['h264_1200.mp4'] }),
    token_required_platform: shown.bool('True: the files are had with a token only.'),
  })
  .meta({ id: 'Media', description: 'A media: the parent of one or more videos (publishes).' })

export function mediaView(media: Media): z.input<typeof MediaRecord> {
  return {
    media_id: media.mediaId,
    original_filename: media.originalFilename,
    encoded_filename: media.encodedFilenames,
    token_required_platform: media.tokenRequired,
  }
}

/** All that can be changed, as `data` of an update shows it. */
export function mediaDetailsView(media: Media) {
  return {
    title: media.title,
    gif_status: String(media.gifStatus),
    original_filename: media.originalFilename,
    token_required_platform: media.tokenRequired,
  }
}
