import { toNumber } from './frame-rate.ts'
import type { Rational } from './source-probe.ts'

/** A stretch of the picture that is encoded by one run; all of them begin with a key frame and lean on nothing outside. */
export interface PlannedChunk {
  index: number
  startFrame: number
  frames: number
  startSeconds: number
  /** Number of its first segment. */
  firstSegment: number
  /** A rough guess, on a processor core of today. */
  expectedCpuSeconds: number
}

export interface PictureToCut {
  frames: number
  frameRate: Rational
  segmentFrames: number
  /** What a frame costs in all renditions together. */
  cpuSecondsPerFrame: number
  /** False where the source can be read from its beginning only. */
  canCut: boolean
}

/** A long chunk costs little at its seam; a short one loses little when its worker dies, and is done soon. */
const usualSeconds = 60
const mostCpuSeconds = 40
/** Of the whole: what is lost with a worker is little beside it, and several of them have work. */
const usualShare = 0.13
/** Below this the seams would cost more than the loss of a worker. */
const leastShareSegments = 4

/**
 * Cuts the picture between segments: a first chunk of one segment, so that it plays soon, each of the next twice as long up to the usual length,
 * which is a minute, or an eighth of a short picture.
 */
export function planChunks(picture: PictureToCut): PlannedChunk[] {
  const chunks: PlannedChunk[] = []
  for (const frames of lengths(picture)) {
    const last = chunks.at(-1)
    const startFrame = last ? last.startFrame + last.frames : 0
    chunks.push({
      index: chunks.length,
      startFrame,
      frames,
      startSeconds: round(startFrame / toNumber(picture.frameRate)),
      firstSegment: 1 + startFrame / picture.segmentFrames,
      expectedCpuSeconds: round(frames * picture.cpuSecondsPerFrame),
    })
  }
  return chunks
}

function lengths({ frames, frameRate, segmentFrames, cpuSecondsPerFrame, canCut }: PictureToCut): number[] {
  if (!canCut) return [frames]
  const usual = Math.round((usualSeconds * toNumber(frameRate)) / segmentFrames)
  const affordable = Math.floor(mostCpuSeconds / (segmentFrames * cpuSecondsPerFrame))
  const share = Math.max(leastShareSegments, Math.round((frames * usualShare) / segmentFrames))
  const most = Math.max(2, Math.min(usual, affordable, share))
  const cut: number[] = []
  for (let left = frames, segments = 1; left > 0; segments = Math.min(most, segments * 2)) {
    const length = Math.min(left, segments * segmentFrames)
    cut.push(length)
    left -= length
  }
  const [before, last] = cut.slice(-2)
  if (before === undefined || last === undefined || last >= before / 3) return cut
  return [...cut.slice(0, -2), before + last]
}

function round(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6
}
