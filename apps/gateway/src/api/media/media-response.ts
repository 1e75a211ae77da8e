import type { Media } from '@vitascope/proto/catalogue/v1/media'
import { z } from 'zod'
import { schema } from '../../server/schema/response-format.ts'

export const MediaResponse = z
  .object({
    media_id: schema.id('media'),
    original_filename: schema.text('File name of the source, from its URL or its uploader.', 'launch.mp4'),
    encoded_filename: z.array(z.string()).meta({ description: 'Names of the playable files.', example: ['h264_1200.mp4'] }),
    token_required_platform: schema.bool('`true`: media files require a token.'),
  })
  .meta({ id: 'Media', description: 'A media: the files of one source and the parent of one or more videos.' })

export function mediaResponse(media: Media): z.input<typeof MediaResponse> {
  return {
    media_id: media.mediaId,
    original_filename: media.originalFilename,
    encoded_filename: media.encodedFilenames,
    token_required_platform: media.tokenRequired,
  }
}

/** Returns all changeable fields, for `data` of an update response. */
export function mediaDetailsResponse(media: Media) {
  return {
    title: media.title,
    gif_status: String(media.gifStatus),
    original_filename: media.originalFilename,
    token_required_platform: media.tokenRequired,
  }
}
