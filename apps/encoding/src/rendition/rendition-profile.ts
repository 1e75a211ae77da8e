import type { FieldError } from '@vitascope/errors'
import type { Rung } from '@vitascope/media'
import type { RenditionProfile } from '@vitascope/proto/encoding/v1/job'
import { CODEC_CODES, findCodeName } from '../task/plan-message.ts'

const AUDIO_KBPS = [32, 64, 128]

/**
 * Returns the rung of a profile, or its field errors. Command lines contain only these numbers and
 * constants of the platform.
 */
export function readProfile(profile: RenditionProfile | undefined): Rung | FieldError[] {
  if (!profile) return [{ field: 'profile', message: 'is missing' }]
  const { label, shortSide, audioKbps } = profile
  const codec = findCodeName(CODEC_CODES, profile.codec)
  const problems: FieldError[] = [
    ...(codec ? [] : [{ field: 'profile.codec', message: 'must be h264, hevc or av1' }]),
    ...(label >= 50 && label <= 100_000 ? [] : [{ field: 'profile.label', message: 'must be 50 to 100000' }]),
    ...(shortSide >= 144 && shortSide <= 4_320 ? [] : [{ field: 'profile.short_side', message: 'must be 144 to 4320' }]),
    ...(AUDIO_KBPS.includes(audioKbps) ? [] : [{ field: 'profile.audio_kbps', message: `must be one of ${AUDIO_KBPS.join(', ')}` }]),
  ]
  if (!codec || problems.length > 0) return problems
  return { key: `${codec}_${label}`, label, shortSide, audioKbps, profile: 'high', ...(codec !== 'h264' && { codec }) }
}
