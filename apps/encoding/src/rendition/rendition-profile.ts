import type { FieldError } from '@vitascope/errors'
import type { PictureCodec, Rung } from '@vitascope/media'
import { PictureCodec as CodecCode, type RenditionProfile } from '@vitascope/proto/encoding/v1/job'

const CODECS: Readonly<Partial<Record<CodecCode, PictureCodec>>> = {
  [CodecCode.PICTURE_CODEC_H264]: 'h264',
  [CodecCode.PICTURE_CODEC_HEVC]: 'hevc',
  [CodecCode.PICTURE_CODEC_AV1]: 'av1',
}
const AUDIO_KBPS = [32, 64, 128]

/**
 * Returns the rung of a profile, or its field errors. Only these numbers and our own constants ever
 * reach a command line.
 */
export function readProfile(profile: RenditionProfile | undefined): Rung | FieldError[] {
  if (!profile) return [{ field: 'profile', message: 'is missing' }]
  const { label, shortSide, audioKbps } = profile
  const codec = CODECS[profile.codec]
  const problems: FieldError[] = [
    ...(codec ? [] : [{ field: 'profile.codec', message: 'must be h264, hevc or av1' }]),
    ...(label >= 50 && label <= 100_000 ? [] : [{ field: 'profile.label', message: 'must be 50 to 100000' }]),
    ...(shortSide >= 144 && shortSide <= 4_320 ? [] : [{ field: 'profile.short_side', message: 'must be 144 to 4320' }]),
    ...(AUDIO_KBPS.includes(audioKbps) ? [] : [{ field: 'profile.audio_kbps', message: `must be one of ${AUDIO_KBPS.join(', ')}` }]),
  ]
  if (!codec || problems.length > 0) return problems
  return { key: `${codec}_${label}`, label, shortSide, audioKbps, profile: 'high', ...(codec !== 'h264' && { codec }) }
}
