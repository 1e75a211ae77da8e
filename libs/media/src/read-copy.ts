import type { SourceCopy } from './source-probe.ts'

export interface FrameGrid {
  /** Frames a second. */
  frameRate: number
  /** From one key frame of a rendition to the next. */
  groupFrames: number
}

/** Reads the lines of `measureCopy`; `end` tells what was found, undefined where the picture does not fit. */
export interface CopyReader {
  /** False as soon as nothing that follows can make it fit. */
  line(line: string): boolean
  end(): SourceCopy | undefined
}

/** Of a frame: by so much a time may be off its place; files in milliseconds are. */
const mostOff = 0.1
/** A second's rate may be kept back by a rendition: a group of two seconds holds that of three at most. */
const burst = 1.5
/** Groups by which the list of IDR pictures may be behind that of all: ffmpeg holds a sparse stream back for ten seconds at most. */
const mostBehind = 8

/**
 * Whether all frames of the source stand on the grid of the renditions, each once, and every group is whole: it begins with an IDR picture, and in
 * the order of decoding its packets stand together. `framecrc` writes `stream, dts, pts, duration, bytes, crc`, and more only where a packet has
 * side data or is no key frame.
 */
export function copyReader({ frameRate, groupFrames }: FrameGrid): CopyReader {
  let secondsPerTick = 0
  let fits = true
  let frames = 0
  let bytes = 0
  let groupBytes = 0
  let mostGroupBytes = 0
  let seen = new Uint8Array(groupFrames)
  /** Groups that begin with an IDR picture. */
  let whole = 0

  const placeOf = (pts: number) => {
    const exact = pts * secondsPerTick * frameRate
    const place = Math.round(exact)
    if (!(Math.abs(exact - place) <= mostOff)) fits = false
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
    mostGroupBytes = Math.max(mostGroupBytes, groupBytes)
  }
  return {
    line(line) {
      const tick = /^#tb 0: (\d+)\/(\d+)$/.exec(line)
      if (tick) secondsPerTick = Number(tick[1]) / Number(tick[2])
      if (line.startsWith('2,')) fits = false
      if (!/^[01],/.test(line)) return fits
      const [stream, , pts, , size, , ...more] = line.split(',').map((field) => field.trim())
      // Side data may change what decoders need to know; flags tell packets that are not to be shown.
      if (more.some((field) => field !== 'F=0x0')) fits = false
      const place = placeOf(Number(pts))
      if (stream === '0') frame(place, Number(size))
      else if (place === whole * groupFrames) whole += 1
      if (frames > (whole + mostBehind) * groupFrames) fits = false
      return fits
    },
    end() {
      if (!fits || frames === 0 || whole !== Math.ceil(frames / groupFrames)) return undefined
      const kbps = (bytes * 8 * frameRate) / frames / 1000
      const peakKbps = (mostGroupBytes * 8 * frameRate) / groupFrames / 1000
      return { frames, kbps: Math.ceil(Math.max(kbps, peakKbps / burst)) }
    },
  }
}
