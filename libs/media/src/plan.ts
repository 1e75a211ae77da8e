import type { FfmpegTools } from './find-ffmpeg.ts'
import { groupFrames, outputFrameRate, toNumber } from './frame-rate.ts'
import { defaultKeys, ladder, type Rung, sizeFor, videoKbps } from './ladder.ts'
import { type PictureCodec, pictureCosts } from './picture-codec.ts'
import { audioGroup, maxSounds, minSoundSeconds, type PlannedAudio, planAudio, spareSeconds } from './plan-audio.ts'
import { type PlannedChunk, planChunks } from './plan-chunks.ts'
import type { Rational, SourceAudio, SourceProbe, SourceVideo } from './source-probe.ts'

/** One rendition of a plan. */
export interface PlannedRendition {
  key: string
  /** Nominal bitrate in kbit/s. The average of the file must not exceed it by more than 10 %. */
  label: number
  /** Undefined if the source has no picture. */
  video?: {
    width: number
    height: number
    kbps: number
    profile: Rung['profile']
    codec?: PictureCodec
    /**
     * The picture is a copy of the source without encoding. Times of its stream are in units of
     * `timeBase` seconds.
     */
    copied?: { timeBase: Rational }
  }
  /**
   * Key of its audio group, which is also the key of the track in its MP4 file. Undefined if the
   * source has no sound.
   */
  audioKey?: string
}

/** Plans of another version cannot be executed; the job is planned again. */
export const planVersion = 5

/**
 * The input of all later steps, as plain JSON. With one build of ffmpeg the same plan produces the
 * same frames on any machine.
 */
export interface EncodePlan {
  /** `planVersion` of the planner that created the plan. */
  planVersion: number
  ffmpegVersion: string
  demuxer: string
  durationSeconds: number
  video?: {
    streamIndex: number
    frameRate: Rational
    frames: number
    /** Number of frames from the source; the remaining ones repeat its last frame. */
    sourceFrames: number
    groupFrames: number
    /**
     * Maximum seconds from any position of the source back to a key frame, as far as it was
     * measured. 0 if the source is not divided into chunks.
     */
    keySeconds: number
    /**
     * Seconds for which the last frame is repeated, because sound is longer or a few frames may be
     * lost.
     */
    holdSeconds: number
    deinterlace: boolean
    /** Whether full range is converted to limited range. */
    limitRange: boolean
    toneMap: boolean
    /** True if the file declares no primaries or matrix. HDR is then assumed to be BT.2020. */
    assumeColours: boolean
  }
  audio?: PlannedAudio
  segmentSeconds: number
  /** Chunks of the picture; empty without a picture. */
  chunks: PlannedChunk[]
  renditions: PlannedRendition[]
  images: { key: 'poster' | 'thumbnail' | 'thumb-25' | 'thumb-50' | 'thumb-75'; atSeconds: number; shortSide: number }[]
  maxPixels: number
  /** Rough estimate of the CPU time of all chunks on a current CPU core. */
  expectedCpuSeconds: number
}

export interface PlanOptions {
  probe: SourceProbe
  tools: Pick<FfmpegTools, 'version' | 'toneMap'>
  /** Keys of the renditions; default: `defaultKeys`. */
  keys?: readonly string[]
  /** Whether the picture may be copied. True by default. */
  canCopyPictures?: boolean
  /**
   * A single rendition in place of those of `keys`. It is added to an existing set and has no
   * images.
   */
  single?: Rung
}

/** Plans how a source is encoded. */
export function planEncode({ probe, tools, keys = defaultKeys(probe.video), canCopyPictures = true, single }: PlanOptions): EncodePlan {
  const rungs = single ? [single] : ladder.filter((rung) => keys.includes(rung.key))
  const { video } = probe
  const sounds = selectAudio(probe)
  const durationSeconds = Math.max(video?.endSeconds ?? 0, sounds[0]?.endSeconds ?? 0)
  const plannedVideo = video && planVideo(video, durationSeconds, tools.toneMap)
  const frames = plannedVideo?.frames ?? 0
  const encodedRenditions = rungs.map((rung) => planRendition(rung, video, plannedVideo, sounds.length > 0))
  const renditions = canCopyPictures ? withCopy(encodedRenditions, video, plannedVideo) : encodedRenditions
  const audio = planAudio(sounds, rungs, durationSeconds)
  const cpuSecondsPerFrame = frameCpuSeconds(renditions, video)
  return {
    planVersion,
    ffmpegVersion: tools.version,
    demuxer: probe.demuxer,
    durationSeconds,
    ...(plannedVideo ? { video: plannedVideo } : {}),
    ...(audio ? { audio } : {}),
    segmentSeconds: plannedVideo ? Math.round(((plannedVideo.groupFrames * 2) / toNumber(plannedVideo.frameRate)) * 1e6) / 1e6 : 4,
    chunks: plannedVideo ? cutPicture(plannedVideo, cpuSecondsPerFrame) : [],
    renditions,
    images: single ? [] : planImages(durationSeconds),
    maxPixels: 35_389_440,
    expectedCpuSeconds: Math.ceil(frames * cpuSecondsPerFrame + (audio?.expectedCpuSeconds ?? 0) + 1),
  }
}

/** Returns the chunk index of the audio, which follows those of the picture. */
export function audioChunk(plan: EncodePlan): number {
  return plan.chunks.length
}

/** Returns all chunk indexes in the order in which they should be encoded. */
export function chunkIndexes(plan: EncodePlan): number[] {
  const pictures = plan.chunks.map(({ index }) => index)
  return plan.audio ? [audioChunk(plan), ...pictures] : pictures
}

/**
 * Returns the sounds, default first. The default sound is used in the MP4 files, and determines the
 * duration together with the picture.
 */
function selectAudio({ video, audio, durationSeconds }: SourceProbe): SourceAudio[] {
  // A single picture may be shorter than the first audio block.
  if (video && durationSeconds < minSoundSeconds) return []
  const first = audio.find((stream) => stream.isDefault) ?? audio[0]
  return first ? [first, ...audio.filter((stream) => stream !== first)].slice(0, maxSounds) : []
}

function planVideo(video: SourceVideo, durationSeconds: number, canToneMap: boolean): NonNullable<EncodePlan['video']> {
  const frameRate = outputFrameRate(video)
  // Sound consists of blocks and nearly always ends slightly later. Repeating a last frame for it
  // would create an additional segment.
  const seconds = durationSeconds - video.endSeconds < 0.1 ? video.endSeconds : durationSeconds
  return {
    streamIndex: video.index,
    frameRate,
    frames: Math.max(1, Math.round(seconds * toNumber(frameRate))),
    sourceFrames: Math.max(1, Math.round(video.endSeconds * toNumber(frameRate))),
    keySeconds: video.keySeconds ?? 0,
    groupFrames: groupFrames(frameRate),
    holdSeconds: round(seconds - video.endSeconds + spareSeconds),
    deinterlace: video.interlaced,
    limitRange: video.fullRange,
    toneMap: canToneMap && (video.transfer === 'smpte2084' || video.transfer === 'arib-std-b67'),
    assumeColours: !video.declaresColours,
  }
}

function cutPicture(
  { frames, frameRate, groupFrames, keySeconds }: NonNullable<EncodePlan['video']>,
  cpuSecondsPerFrame: number,
): PlannedChunk[] {
  return planChunks({ frames, frameRate, segmentFrames: groupFrames * 2, cpuSecondsPerFrame, canCut: keySeconds > 0 })
}

function planRendition(rung: Rung, video: SourceVideo | undefined, plannedVideo: EncodePlan['video'], hasAudio: boolean): PlannedRendition {
  const picture = video &&
    plannedVideo && {
      ...sizeFor(rung, video),
      kbps: videoKbps(rung, toNumber(plannedVideo.frameRate), hasAudio),
      profile: rung.profile,
      ...(rung.codec && { codec: rung.codec }),
    }
  return {
    key: rung.key,
    label: rung.label,
    ...(picture ? { video: picture } : {}),
    ...(hasAudio ? { audioKey: audioGroup(rung.audioKbps) } : {}),
  }
}

/**
 * Replaces the last rendition with a copy of the source's picture, if that has the same size and
 * does not exceed its bitrate. Another, scaled rendition must exist.
 */
function withCopy(renditions: PlannedRendition[], source: SourceVideo | undefined, plannedVideo: EncodePlan['video']): PlannedRendition[] {
  const last = renditions.at(-1)
  const size = last?.video
  if (!source?.copy || !size || renditions.length < 2 || size.codec !== undefined) return renditions
  const isSame = size.width === source.width && size.height === source.height && source.copy.frames === plannedVideo?.frames
  if (!isSame || source.copy.kbps > size.kbps) return renditions
  return [...renditions.slice(0, -1), { ...last, video: { ...size, copied: { timeBase: source.copy.timeBase } } }]
}

function planImages(durationSeconds: number): EncodePlan['images'] {
  return [
    { key: 'poster', atSeconds: round(durationSeconds * 0.5), shortSide: 720 },
    { key: 'thumbnail', atSeconds: round(durationSeconds * 0.5), shortSide: 240 },
    { key: 'thumb-25', atSeconds: round(durationSeconds * 0.25), shortSide: 360 },
    { key: 'thumb-50', atSeconds: round(durationSeconds * 0.5), shortSide: 360 },
    { key: 'thumb-75', atSeconds: round(durationSeconds * 0.75), shortSide: 360 },
  ]
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}

/**
 * Returns the estimated CPU seconds of a frame. Measured: 15 ns for each encoded pixel, 3 ns for
 * each decoded and filtered one. In addition, a frame of any size costs 20 µs to decode and 50 µs
 * in each encoded rendition.
 */
function frameCpuSeconds(renditions: readonly PlannedRendition[], video: SourceVideo | undefined): number {
  const cost = ({ video: size }: PlannedRendition) =>
    size && !size.copied ? size.width * size.height * pictureCosts[size.codec ?? 'h264'] : 0
  const encoded = renditions.reduce((pixels, rendition) => pixels + cost(rendition), 0)
  const decoded = video ? video.width * video.height : 0
  const encodedRenditions = renditions.filter((rendition) => cost(rendition) > 0).length
  return encoded * 15e-9 + decoded * 3e-9 + encodedRenditions * 50e-6 + (video ? 20e-6 : 0)
}
