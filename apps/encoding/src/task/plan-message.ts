import type { EncodePlan, PictureCodec, PlannedRendition, SourceProbe } from '@vitascope/media'
import { EncodePlan as EncodePlanMessage, ImageKey, PictureProfile } from '@vitascope/proto/encoding/v1/encode_plan'
import { PictureCodec as CodecCode } from '@vitascope/proto/encoding/v1/picture_codec'
import { SourceProbe as SourceProbeMessage } from '@vitascope/proto/encoding/v1/source_probe'

// Plans and probes have the same fields in messages and in libs/media. Messages have codes instead
// of names, and undefined instead of absent fields.

/** Thrown for a message with a missing or invalid field. */
export class MalformedMessage extends Error {
  readonly field: string
  readonly problem: string

  constructor(field: string, problem = 'is missing') {
    super(`${field} ${problem}`)
    this.name = 'MalformedMessage'
    this.field = field
    this.problem = problem
  }
}

/** Returns the value of a field of message type. Throws `MalformedMessage` if it is absent. */
export function required<T>(field: string, value: T | undefined): T {
  if (value === undefined) throw new MalformedMessage(field)
  return value
}

export const CODEC_CODES = {
  h264: CodecCode.PICTURE_CODEC_H264,
  hevc: CodecCode.PICTURE_CODEC_HEVC,
  av1: CodecCode.PICTURE_CODEC_AV1,
} as const satisfies Record<PictureCodec, CodecCode>

const PROFILE_CODES = {
  baseline: PictureProfile.PICTURE_PROFILE_BASELINE,
  high: PictureProfile.PICTURE_PROFILE_HIGH,
} as const satisfies Record<NonNullable<PlannedRendition['video']>['profile'], PictureProfile>

const IMAGE_CODES = {
  poster: ImageKey.IMAGE_KEY_POSTER,
  thumbnail: ImageKey.IMAGE_KEY_THUMBNAIL,
  'thumb-25': ImageKey.IMAGE_KEY_THUMBNAIL_25,
  'thumb-50': ImageKey.IMAGE_KEY_THUMBNAIL_50,
  'thumb-75': ImageKey.IMAGE_KEY_THUMBNAIL_75,
} as const satisfies Record<EncodePlan['images'][number]['key'], ImageKey>

/** Returns the name of a code of an enum, or undefined for an unknown code. */
export function findCodeName<Name extends string>(codes: Readonly<Record<Name, string>>, code: string): Name | undefined {
  // `Object.keys` loses the type of the keys.
  return (Object.keys(codes) as Name[]).find((name) => codes[name] === code)
}

export function toPlanMessage(plan: EncodePlan): EncodePlanMessage {
  return EncodePlanMessage.fromPartial({
    ...plan,
    renditions: plan.renditions.map(({ video, ...rendition }) => ({
      ...rendition,
      ...(video && { video: { ...video, profile: PROFILE_CODES[video.profile], codec: CODEC_CODES[video.codec ?? 'h264'] } }),
    })),
    images: plan.images.map(({ key, ...image }) => ({ ...image, key: IMAGE_CODES[key] })),
  })
}

/** Returns the plan of a message. Throws `MalformedMessage`. */
export function readPlanMessage({ video, audio, renditions, images, ...plan }: EncodePlanMessage): EncodePlan {
  return {
    ...plan,
    ...(video && { video: { ...video, frameRate: required('plan.video.frame_rate', video.frameRate) } }),
    ...(audio && { audio }),
    renditions: renditions.map(readRendition),
    images: images.map(({ key, ...image }) => ({ ...image, key: readCode('plan.images.key', IMAGE_CODES, key) })),
  }
}

function readRendition({ video, audioKey, ...rendition }: EncodePlanMessage['renditions'][number]): PlannedRendition {
  const picture = video && readPicture(video)
  return { ...rendition, ...(picture && { video: picture }), ...(audioKey !== undefined && { audioKey }) }
}

function readPicture({
  profile,
  codec,
  copied,
  ...picture
}: NonNullable<EncodePlanMessage['renditions'][number]['video']>): NonNullable<PlannedRendition['video']> {
  const name = readCode('plan.renditions.video.codec', CODEC_CODES, codec)
  return {
    ...picture,
    profile: readCode('plan.renditions.video.profile', PROFILE_CODES, profile),
    // Plans omit the default.
    ...(name !== 'h264' && { codec: name }),
    ...(copied && { copied: { timeBase: required('plan.renditions.video.copied.time_base', copied.timeBase) } }),
  }
}

export function toProbeMessage(probe: SourceProbe): SourceProbeMessage {
  return SourceProbeMessage.fromPartial(probe)
}

/**
 * Returns the probe of a message. Throws `MalformedMessage`, also for a duration that is not a
 * positive number.
 */
export function readProbeMessage({ video, ...probe }: SourceProbeMessage): SourceProbe {
  const { durationSeconds } = probe
  if (!(durationSeconds > 0 && Number.isFinite(durationSeconds)))
    throw new MalformedMessage('probe.duration_seconds', 'must be greater than 0')
  return { ...probe, ...(video && { video: readVideo(video) }) }
}

function readVideo({ frameRate, keySeconds, copy, ...video }: NonNullable<SourceProbeMessage['video']>): NonNullable<SourceProbe['video']> {
  return {
    ...video,
    frameRate: required('probe.video.frame_rate', frameRate),
    ...(keySeconds !== undefined && { keySeconds }),
    ...(copy && { copy: { ...copy, timeBase: required('probe.video.copy.time_base', copy.timeBase) } }),
  }
}

function readCode<Name extends string>(field: string, codes: Readonly<Record<Name, string>>, code: string): Name {
  const name = findCodeName(codes, code)
  if (name === undefined) throw new MalformedMessage(field, 'is not a known value')
  return name
}

/** Returns the names of codecs. Throws `MalformedMessage` for an unknown codec. */
export function readCodecs(field: string, codes: readonly CodecCode[]): PictureCodec[] {
  return codes.map((code) => readCode(field, CODEC_CODES, code))
}
