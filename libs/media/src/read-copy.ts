import type { SourceCopy } from './source-probe.ts'

export interface FrameGrid {
  /** Frames per second. */
  frameRate: number
  /** Frames from one key frame of a rendition to the next. */
  groupFrames: number
}

/** Checks the lines of the packet list of `measureCopy`. */
export interface CopyReader {
  /** Returns false as soon as the picture can no longer qualify. */
  line(line: string): boolean
  /** Returns the result, or undefined if the picture cannot be copied. */
  end(): Omit<SourceCopy, 'timeBase'> | undefined
}

/**
 * Maximum deviation of a time from its position, as a fraction of a frame. Files with millisecond
 * times deviate.
 */
const MAX_OFFSET_FRAMES = 0.1
/**
 * Maximum bitrate of a group, as a multiple of the bitrate of the rendition. A rendition may buffer
 * the bits of one second, so a group of two seconds contains at most the bits of three.
 */
const MAX_GROUP_FACTOR = 1.5
/**
 * Maximum number of groups that the list of IDR pictures may lag behind the list of all packets:
 * ffmpeg delays a sparse stream by at most ten seconds.
 */
const MAX_DELAY_GROUPS = 8

/**
 * Returns a reader that checks whether each frame of the source has its own position on the grid of
 * the renditions and every group is complete: it starts with an IDR picture, and its packets are
 * contiguous in decoding order. `framecrc` writes `stream, dts, pts, duration, bytes, crc`, and
 * further fields only if a packet has side data or is not a key frame.
 */
export function copyReader({ frameRate, groupFrames }: FrameGrid): CopyReader {
  let secondsPerTick = 0
  let canCopy = true
  let frames = 0
  let bytes = 0
  let groupBytes = 0
  let maxGroupBytes = 0
  let occupied = new Uint8Array(groupFrames)
  /** Number of groups that start with an IDR picture. */
  let groupsWithIdr = 0

  const toFramePosition = (pts: number) => {
    const exact = pts * secondsPerTick * frameRate
    const position = Math.round(exact)
    if (!(Math.abs(exact - position) <= MAX_OFFSET_FRAMES)) canCopy = false
    return position
  }
  const addFrame = (position: number, size: number) => {
    const inGroup = frames % groupFrames
    if (inGroup === 0) {
      occupied = new Uint8Array(groupFrames)
      groupBytes = 0
    }
    const indexInGroup = position - (frames - inGroup)
    if (indexInGroup < 0 || indexInGroup >= groupFrames || occupied[indexInGroup] === 1) canCopy = false
    occupied[indexInGroup] = 1
    frames += 1
    bytes += size
    groupBytes += size
    maxGroupBytes = Math.max(maxGroupBytes, groupBytes)
  }
  return {
    line(line) {
      const tick = /^#tb 0: (\d+)\/(\d+)$/.exec(line)
      if (tick) secondsPerTick = Number(tick[1]) / Number(tick[2])
      if (line.startsWith('2,')) canCopy = false
      if (!/^[01],/.test(line)) return canCopy
      const [stream, , pts, , size, , ...extraFields] = line.split(',').map((field) => field.trim())
      // Side data may change the state of the decoder; flags mark packets that are not displayed.
      if (extraFields.some((field) => field !== 'F=0x0')) canCopy = false
      const position = toFramePosition(Number(pts))
      if (stream === '0') addFrame(position, Number(size))
      else if (position === groupsWithIdr * groupFrames) groupsWithIdr += 1
      if (frames > (groupsWithIdr + MAX_DELAY_GROUPS) * groupFrames) canCopy = false
      return canCopy
    },
    end() {
      if (!canCopy || frames === 0 || groupsWithIdr !== Math.ceil(frames / groupFrames)) return undefined
      const kbps = (bytes * 8 * frameRate) / frames / 1000
      const peakKbps = (maxGroupBytes * 8 * frameRate) / groupFrames / 1000
      return { frames, kbps: Math.ceil(Math.max(kbps, peakKbps / MAX_GROUP_FACTOR)) }
    },
  }
}
