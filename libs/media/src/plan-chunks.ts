import { toNumber } from './frame-rate.ts'
import type { Rational } from './source-probe.ts'

/** A range of the picture that one run encodes. It starts with a key frame and depends on nothing outside of it. */
export interface PlannedChunk {
  index: number
  startFrame: number
  frames: number
  startSeconds: number
  /** Number of its first segment. */
  firstSegment: number
  /** Rough estimate on a current CPU core. */
  expectedCpuSeconds: number
}

export interface PictureToCut {
  frames: number
  frameRate: Rational
  segmentFrames: number
  /** CPU seconds of a frame in all renditions together. */
  cpuSecondsPerFrame: number
  /** False if the source can only be read from its start. */
  canCut: boolean
}

/** A long chunk has less overhead at its borders; a short one loses less if its worker fails, and is done sooner. */
const usualSeconds = 60
const maxCpuSeconds = 40
/** Share of the whole, so that a lost worker costs little and several workers have chunks. */
const usualShare = 0.13
/** Below this the borders would cost more than the loss of a worker. */
const minShareSegments = 4

/**
 * Divides the picture at segment borders. The first chunk has one segment, so that it is playable soon. Each next
 * chunk is twice as long, up to the usual length, which is a minute, or an eighth of a short picture.
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
  const affordable = Math.floor(maxCpuSeconds / (segmentFrames * cpuSecondsPerFrame))
  const share = Math.max(minShareSegments, Math.round((frames * usualShare) / segmentFrames))
  const max = Math.max(2, Math.min(usual, affordable, share))
  const cut: number[] = []
  for (let left = frames, segments = 1; left > 0; segments = Math.min(max, segments * 2)) {
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
