import type { EncodingProfile, OrganisationFormat } from '@vitascope/proto/catalogue/v1/encoding_format'
import { z } from 'zod'
import { shown } from '../public-form.ts'

const entry = {
  aspect_mode: z.literal('preserve').meta({ description: 'The picture keeps its shape.' }),
  audio_bitrate: shown.int('kbit/s.', 128),
  audio_channels: shown.int('Stereo.', 2),
  audio_codec: z.literal('aac'),
  audio_sample_rate: shown.int('Hz.', 48_000),
  format: z.literal('mp4').meta({ description: 'And the same frames as fMP4 for HLS.' }),
  keyframe_interval: shown.int('Seconds from one key frame to the next.', 2),
  label: shown.int('kbit/s of the whole file that its average exceeds by a tenth at most.', 700),
  size: shown.text('Of a picture in 16:9; others have the same shorter side. A smaller source keeps its size.', '1280x720'),
  speed: shown.int('Of the encoder: 1 slow to 5 fast.', 4),
  upscale: shown.bool('Never.'),
  video_bitrate: shown.int('kbit/s.', 572),
  video_codec: z.enum(['h264', 'hevc', 'av1']),
}

export const EncodingFormatEntry = z.object(entry).meta({ id: 'EncodingFormat', description: 'A rendition, as it is encoded.' })

export const ProfileRecord = z
  .object({ id: shown.int('As `encodingformat` and `encodingformat_id` take it.', 23), ...entry })
  .meta({ id: 'EncodingProfile', description: 'A rendition that can be made beyond those that every video gets.' })

export const MediaFormats = z
  .object({ media_id: shown.id('media'), title: shown.text('Of the media.', 'Launch day') })
  .catchall(z.union([EncodingFormatEntry, z.string()]))
  .meta({
    id: 'MediaEncodingFormats',
    description: 'What was applied to a media: an entry for each format, by its key in `uri.http`: `av1_700`.',
  })

export const OrganisationFormats = z
  .object({ organisation_id: shown.id('organisation'), title: shown.text('The name of the organisation.', 'Example Films') })
  .catchall(z.union([z.object({ organisation_encodingformat_id: shown.int('Names it for DELETE.', 7), ...entry }), z.string()]))
  .meta({ id: 'OrganisationEncodingFormats', description: 'What later uploads get: an entry for each format, by its key in `uri.http`.' })

export function profileView(profile: EncodingProfile): z.input<typeof ProfileRecord> {
  return { id: profile.id, ...entryView(profile) }
}

export function mediaFormatsView({ mediaId, title, profiles }: { mediaId: string; title: string; profiles: readonly EncodingProfile[] }) {
  return { media_id: mediaId, title, ...Object.fromEntries(profiles.map((profile) => [keyOf(profile), entryView(profile)])) }
}

export function organisationFormatsView(organisation: { organisationId: string; name: string }, formats: readonly OrganisationFormat[]) {
  const entries = formats.flatMap(({ organisationFormatId, profile }) =>
    profile ? [[keyOf(profile), { organisation_encodingformat_id: organisationFormatId, ...entryView(profile) }] as const] : [],
  )
  return { organisation_id: organisation.organisationId, title: organisation.name, ...Object.fromEntries(entries) }
}

function keyOf({ videoCodec, label }: EncodingProfile): string {
  return `${videoCodec}_${label}`
}

function entryView({ label, size, videoBitrate, audioBitrate, videoCodec }: EncodingProfile): z.input<typeof EncodingFormatEntry> {
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
