import type { SourceCopy } from './source-probe.ts'

export interface FrameGrid {
  /** Frames per second. */
  frameRate: number
  /** Frames from one key frame of a rendition to the next. */
  groupFrames: number
}

/** Reads the lines of `measureCopy`. `end` returns the result, or undefined if the picture cannot be copied. */
export interface CopyReader {
  /** Returns false as soon as the picture can no longer qualify. */
  line(line: string): boolean
  end(): Omit<SourceCopy, 'timeBase'> | undefined
}

/** Maximum deviation of a time from its position, as a fraction of a frame. Files with millisecond times deviate. */
const maxOffset = 0.1
/** A rendition may buffer bits of one second, so a group of two seconds contains at most the bits of three. */
const burst = 1.5
/**
 * Maximum number of groups that the list of IDR pictures may lag behind the list of all packets: ffmpeg delays a
 * sparse stream by at most ten seconds.
 */
const maxDelay = 8

/**
 * Returns a reader that checks whether each frame of the source has its own position on the grid of the renditions
 * and every group is complete: it starts with an IDR picture, and its packets are contiguous in decoding order.
 * `framecrc` writes `stream, dts, pts, duration, bytes, crc`, and further fields only if a packet has side data or is
 * not a key frame.
 */
export function copyReader({ frameRate, groupFrames }: FrameGrid): CopyReader {
  let secondsPerTick = 0
  let fits = true
  let frames = 0
  let bytes = 0
  let groupBytes = 0
  let maxGroupBytes = 0
  let seen = new Uint8Array(groupFrames)
  /** Number of groups that start with an IDR picture. */
  let whole = 0

  const placeOf = (pts: number) => {
    const exact = pts * secondsPerTick * frameRate
    const place = Math.round(exact)
    if (!(Math.abs(exact - place) <= maxOffset)) fits = false
    return place
  }
  const frame = (place: number, size: number) => {
    const inGroup = frames % groupFrames
    if (inGroup === 0) {
      seen = new Uint8Array(groupFrames)
      groupBytes = 0
    }
    const own = place - (frames - inGroup)
    if (own < 0 || own >= groupFrames || seen[own] === 1) fits = false
    seen[own] = 1
    frames += 1
    bytes += size
    groupBytes += size
    maxGroupBytes = Math.max(maxGroupBytes, groupBytes)
  }
  return {
    line(line) {
      const tick = /^#tb 0: (\d+)\/(\d+)$/.exec(line)
      if (tick) secondsPerTick = Number(tick[1]) / Number(tick[2])
      if (line.startsWith('2,')) fits = false
      if (!/^[01],/.test(line)) return fits
      const [stream, , pts, , size, , ...more] = line.split(',').map((field) => field.trim())
      // Side data may change the state of the decoder; flags mark packets that are not displayed.
      if (more.some((field) => field !== 'F=0x0')) fits = false
      const place = placeOf(Number(pts))
      if (stream === '0') frame(place, Number(size))
      else if (place === whole * groupFrames) whole += 1
      if (frames > (whole + maxDelay) * groupFrames) fits = false
      return fits
    },
    end() {
      if (!fits || frames === 0 || whole !== Math.ceil(frames / groupFrames)) return undefined
      const kbps = (bytes * 8 * frameRate) / frames / 1000
      const peakKbps = (maxGroupBytes * 8 * frameRate) / groupFrames / 1000
      return { frames, kbps: Math.ceil(Math.max(kbps, peakKbps / burst)) }
    },
  }
}
