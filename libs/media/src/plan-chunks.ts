import { toNumber } from './frame-rate.ts'
import type { Rational } from './source-probe.ts'

/**
 * A range of the picture that one run encodes. It starts with a key frame and depends on nothing
 * outside of it.
 */
export interface PlannedChunk {
  index: number
  startFrame: number
  frames: number
  startSeconds: number
  /** Number of the first segment of the chunk. */
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

/**
 * Maximum duration of a chunk. A long chunk has less overhead at its borders. A short one loses
 * less work if its worker fails.
 */
const MAX_SECONDS = 60
/** Maximum estimated CPU time of a chunk. */
const MAX_CPU_SECONDS = 40
/**
 * Maximum share of the picture in one chunk, so that a lost worker costs little and several workers
 * have chunks.
 */
const MAX_SHARE = 0.13
/**
 * Minimum length that MAX_SHARE leads to. With shorter chunks the borders cost more than the loss
 * of a worker.
 */
const MIN_SHARE_SEGMENTS = 4

/**
 * Divides the picture at segment borders. The first chunk has one segment, so that viewers can play
 * it soon. Each next chunk is twice as long, up to the usual length. The usual length is a minute,
 * or about an eighth of a short picture, or MAX_CPU_SECONDS of work, whichever is the shortest.
 */
export function planChunks(picture: PictureToCut): PlannedChunk[] {
  const chunks: PlannedChunk[] = []
  for (const frames of chunkLengths(picture)) {
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

function chunkLengths({ frames, frameRate, segmentFrames, cpuSecondsPerFrame, canCut }: PictureToCut): number[] {
  if (!canCut) return [frames]
  const usualSegments = Math.round((MAX_SECONDS * toNumber(frameRate)) / segmentFrames)
  const affordable = Math.floor(MAX_CPU_SECONDS / (segmentFrames * cpuSecondsPerFrame))
  const share = Math.max(MIN_SHARE_SEGMENTS, Math.round((frames * MAX_SHARE) / segmentFrames))
  const max = Math.max(2, Math.min(usualSegments, affordable, share))
  const chunkFrames: number[] = []
  for (let remaining = frames, segments = 1; remaining > 0; segments = Math.min(max, segments * 2)) {
    const length = Math.min(remaining, segments * segmentFrames)
    chunkFrames.push(length)
    remaining -= length
  }
  const [before, last] = chunkFrames.slice(-2)
  if (before === undefined || last === undefined || last >= before / 3) return chunkFrames
  return [...chunkFrames.slice(0, -2), before + last]
}

function round(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6
}
