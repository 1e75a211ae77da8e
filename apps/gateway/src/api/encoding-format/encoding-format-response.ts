import type { EncodingProfile, OrganisationFormat } from '@vitascope/proto/catalogue/v1/encoding_format'
import { z } from 'zod'
import { schema } from '../../server/schema/response-format.ts'

const entry = {
  aspect_mode: z.literal('preserve').meta({ description: 'The aspect ratio of the picture is kept.' }),
  audio_bitrate: schema.int('Rate of the audio in kbit/s.', 128),
  audio_channels: schema.int('Number of audio channels. The audio is stereo.', 2),
  audio_codec: z.literal('aac'),
  audio_sample_rate: schema.int('Sample rate of the audio in Hz.', 48_000),
  format: z.literal('mp4').meta({ description: 'Container of the file. The same frames are also served as fMP4 for HLS.' }),
  keyframe_interval: schema.int('Seconds between key frames.', 2),
  label: schema.int('Nominal rate of the whole file in kbit/s. The average exceeds it by at most 10 %.', 700),
  size: schema.text('Size of a 16:9 picture. Other pictures have the same shorter side. A smaller source keeps its size.', '1280x720'),
  speed: schema.int('Speed of the encoder, from 1 (slow) to 5 (fast).', 4),
  upscale: schema.bool('Always `false`. Pictures are not enlarged.'),
  video_bitrate: schema.int('Rate of the video in kbit/s.', 572),
  video_codec: z.enum(['h264', 'hevc', 'av1']),
}

export const EncodingFormatResponse = z.object(entry).meta({ id: 'EncodingFormat', description: 'Encoding settings of a rendition.' })

export const EncodingProfileResponse = z
  .object({ id: schema.int('Id for `encodingformat` and `encodingformat_id`.', 23), ...entry })
  .meta({ id: 'EncodingProfile', description: 'A rendition that can be encoded in addition to the renditions of every video.' })

export const MediaFormatsResponse = z
  .object({ media_id: schema.id('media'), title: schema.text('Title of the media.', 'Launch day') })
  .catchall(z.union([EncodingFormatResponse, z.string()]))
  .meta({
    id: 'MediaEncodingFormats',
    description: 'Encoding formats that were applied to a media. Each has an entry under its key in `uri.http`, such as `av1_700`.',
  })

export const OrganisationFormatsResponse = z
  .object({ organisation_id: schema.id('organisation'), title: schema.text('Name of the organisation.', 'Example Films') })
  .catchall(
    z.union([z.object({ organisation_encodingformat_id: schema.int('Id of the association, for `DELETE`.', 7), ...entry }), z.string()]),
  )
  .meta({
    id: 'OrganisationEncodingFormats',
    description: 'Encoding formats of later uploads. Each has an entry under its key in `uri.http`.',
  })

export function encodingProfileResponse(profile: EncodingProfile): z.input<typeof EncodingProfileResponse> {
  return { id: profile.id, ...encodingFormatResponse(profile) }
}

export function mediaFormatsResponse({
  mediaId,
  title,
  profiles,
}: {
  mediaId: string
  title: string
  profiles: readonly EncodingProfile[]
}) {
  return {
    media_id: mediaId,
    title,
    ...Object.fromEntries(profiles.map((profile) => [formatRenditionKey(profile), encodingFormatResponse(profile)])),
  }
}

export function organisationFormatsResponse(
  organisation: { organisationId: string; name: string },
  formats: readonly OrganisationFormat[],
) {
  const entries = formats.flatMap(({ organisationFormatId, profile }) =>
    profile
      ? [
          [
            formatRenditionKey(profile),
            { organisation_encodingformat_id: organisationFormatId, ...encodingFormatResponse(profile) },
          ] as const,
        ]
      : [],
  )
  return { organisation_id: organisation.organisationId, title: organisation.name, ...Object.fromEntries(entries) }
}

function formatRenditionKey({ videoCodec, label }: EncodingProfile): string {
  return `${videoCodec}_${label}`
}

function encodingFormatResponse({
  label,
  size,
  videoBitrate,
  audioBitrate,
  videoCodec,
}: EncodingProfile): z.input<typeof EncodingFormatResponse> {
  return {
    aspect_mode: 'preserve',
    audio_bitrate: audioBitrate,
    audio_channels: 2,
    audio_codec: 'aac',
    audio_sample_rate: 48_000,
    format: 'mp4',
    keyframe_interval: 2,
    label,
    size,
    speed: 4,
    upscale: false,
    video_bitrate: videoBitrate,
    video_codec: entry.video_codec.parse(videoCodec),
  }
}
