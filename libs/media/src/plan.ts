import type { FfmpegTools } from './find-ffmpeg.ts'
import { groupFrames, outputFrameRate, toNumber } from './frame-rate.ts'
import { ladder, type Rung, sizeFor, usualKeys, videoKbps } from './ladder.ts'
import { type PictureCodec, pictureCosts } from './picture-codec.ts'
import { audioGroup, mostSounds, type PlannedAudio, planAudio, shortestSoundSeconds, spareSeconds } from './plan-audio.ts'
import { type PlannedChunk, planChunks } from './plan-chunks.ts'
import type { Rational, SourceAudio, SourceProbe, SourceVideo } from './source-probe.ts'

/** One rendition of a plan. */
export interface PlannedRendition {
  key: string
  /** Kilobits a second that the average of the whole file must not exceed by more than a tenth. */
  label: number
  /** Undefined where the source has no picture. */
  video?: {
    width: number
    height: number
    kbps: number
    profile: Rung['profile']
    codec?: PictureCodec
    /** The picture of the source as it is stored: nothing is encoded. */
    copied?: true
  }
  /** Its group of audio tracks, and the one of them that belongs to its file; undefined where the source has no sound. */
  audioKey?: string
}

/** Plans of another version cannot be carried out: the job plans again. */
export const planVersion = 4

/** Everything that later steps need to know, as plain JSON: with one build of ffmpeg the same plan gives the same frames on any machine. */
export interface EncodePlan {
  planVersion: typeof planVersion
  ffmpegVersion: string
  demuxer: string
  durationSeconds: number
  video?: {
    streamIndex: number
    frameRate: Rational
    frames: number
    /** How many of them the source itself fills; the rest holds its last one. */
    sourceFrames: number
    groupFrames: number
    /** Seconds from any place of the source back to a frame that can be decoded by itself, at most, as far as was looked. 0 where it is not cut. */
    keySeconds: number
    /** Seconds that the last frame is held, because sound goes on or a few frames may be lost. */
    holdSeconds: number
    deinterlace: boolean
    /** Brings full range to the ordinary one. */
    limitRange: boolean
    toneMap: boolean
    /** HDR that does not say its colours has those of BT.2020. */
    assumeColours: boolean
  }
  audio?: PlannedAudio
  segmentSeconds: number
  /** Of the picture; none where there is no picture. */
  chunks: PlannedChunk[]
  renditions: PlannedRendition[]
  images: { key: 'poster' | 'thumbnail' | 'thumb-25' | 'thumb-50' | 'thumb-75'; atSeconds: number; shortSide: number }[]
  maxPixels: number
  /** A rough guess, on a processor core of today. */
  expectedCpuSeconds: number
}

export interface PlanQuestion {
  probe: SourceProbe
  tools: Pick<FfmpegTools, 'version' | 'toneMap'>
  /** Which renditions; by default those of `usualKeys`. */
  keys?: readonly string[]
  /** False: a picture that could be copied is encoded, too. */
  copies?: boolean
  /** A single rendition in place of those, to stand beside them: without images, which are there already. */
  single?: Rung
}

/** Decides how a source is encoded. */
export function planEncode({ probe, tools, keys = usualKeys(probe.video), copies = true, single }: PlanQuestion): EncodePlan {
  const rungs = single ? [single] : ladder.filter((rung) => keys.includes(rung.key))
  const { video } = probe
  const sounds = soundsOf(probe)
  const durationSeconds = Math.max(video?.endSeconds ?? 0, sounds[0]?.endSeconds ?? 0)
  const planned = video && planVideo(video, durationSeconds, tools.toneMap)
  const frames = planned?.frames ?? 0
  const made = rungs.map((rung) => planRendition(rung, video, planned, sounds.length > 0))
  const renditions = copies ? withCopy(made, video, planned) : made
  const audio = planAudio(sounds, rungs, durationSeconds)
  const cpuSecondsPerFrame = frameCpuSeconds(renditions, video)
  return {
    planVersion,
    ffmpegVersion: tools.version,
    demuxer: probe.demuxer,
    durationSeconds,
    ...(planned ? { video: planned } : {}),
    ...(audio ? { audio } : {}),
    segmentSeconds: planned ? Math.round(((planned.groupFrames * 2) / toNumber(planned.frameRate)) * 1e6) / 1e6 : 4,
    chunks: planned ? cutPicture(planned, cpuSecondsPerFrame) : [],
    renditions,
    images: single ? [] : planImages(durationSeconds),
    maxPixels: 35_389_440,
    expectedCpuSeconds: Math.ceil(frames * cpuSecondsPerFrame + (audio?.expectedCpuSeconds ?? 0) + 1),
  }
}

/** The number of the piece of work that is the sound of the whole, after those of the picture. */
export function audioChunk(plan: EncodePlan): number {
  return plan.chunks.length
}

/** The numbers of all pieces of work, in the order in which they should be done. */
export function chunkNumbers(plan: EncodePlan): number[] {
  const pictures = plan.chunks.map(({ index }) => index)
  return plan.audio ? [audioChunk(plan), ...pictures] : pictures
}

/** The default one first: the one that the files have, and that decides with the picture how long all is. */
function soundsOf({ video, audio, durationSeconds }: SourceProbe): SourceAudio[] {
  // Beside a single picture there is not always room for the first block of sound.
  if (video && durationSeconds < shortestSoundSeconds) return []
  const first = audio.find((stream) => stream.isDefault) ?? audio[0]
  return first ? [first, ...audio.filter((stream) => stream !== first)].slice(0, mostSounds) : []
}

function planVideo(video: SourceVideo, durationSeconds: number, canToneMap: boolean): NonNullable<EncodePlan['video']> {
  const frameRate = outputFrameRate(video)
  // Sound comes in blocks and nearly always ends a little later; a last frame held for it would make a segment of its own.
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
    assumeColours: !video.tellsColours,
  }
}

function cutPicture(
  { frames, frameRate, groupFrames, keySeconds }: NonNullable<EncodePlan['video']>,
  cpuSecondsPerFrame: number,
): PlannedChunk[] {
  return planChunks({ frames, frameRate, segmentFrames: groupFrames * 2, cpuSecondsPerFrame, canCut: keySeconds > 0 })
}

function planRendition(rung: Rung, video: SourceVideo | undefined, planned: EncodePlan['video'], hasAudio: boolean): PlannedRendition {
  const picture = video &&
    planned && {
      ...sizeFor(rung, video),
      kbps: videoKbps(rung, toNumber(planned.frameRate), hasAudio),
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

/** The last one is the source's own picture where that is as large and not above its rate; beside it there must be one that is scaled. */
function withCopy(renditions: PlannedRendition[], source: SourceVideo | undefined, planned: EncodePlan['video']): PlannedRendition[] {
  const last = renditions.at(-1)
  const size = last?.video
  if (!source?.copy || !size || renditions.length < 2 || size.codec !== undefined) return renditions
  const isSame = size.width === source.width && size.height === source.height && source.copy.frames === planned?.frames
  if (!isSame || source.copy.kbps > size.kbps) return renditions
  return [...renditions.slice(0, -1), { ...last, video: { ...size, copied: true } }]
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

/** Measured: 15 ns a pixel encoded, 3 ns a pixel decoded and filtered. */
function frameCpuSeconds(renditions: readonly PlannedRendition[], video: SourceVideo | undefined): number {
  const cost = ({ video: size }: PlannedRendition) =>
    size && !size.copied ? size.width * size.height * pictureCosts[size.codec ?? 'h264'] : 0
  const encoded = renditions.reduce((pixels, rendition) => pixels + cost(rendition), 0)
  const decoded = video ? video.width * video.height : 0
  return encoded * 15e-9 + decoded * 3e-9
}
