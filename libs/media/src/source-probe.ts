import type { Container } from './sniff.ts'

/** Frames a second as a fraction: 30000/1001 has no exact decimal. */
export interface Rational {
  numerator: number
  denominator: number
}

export interface SourceVideo {
  /** Number of the stream in the file. */
  index: number
  codec: string
  /** As it is to be seen: square pixels, after rotation. */
  width: number
  height: number
  /** Clockwise degrees by which the stored picture is turned: 0, 90, 180 or 270. */
  rotation: number
  frameRate: Rational
  /** Frames come at changing distances; `frameRate` is their average. */
  variableRate: boolean
  pixelFormat: string
  bitDepth: number
  interlaced: boolean
  /** Black is 0 instead of 16. */
  fullRange: boolean
  /** Transfer curve by ffprobe's name, such as `bt709`, `smpte2084` (HDR10), `arib-std-b67` (HLG); empty where unknown. */
  transfer: string
  /** The file says of which colours and by which matrix its picture is; many say their curve alone. */
  tellsColours: boolean
  /** Seconds from the start of the file to the end of this stream. */
  endSeconds: number
  /**
   * Seconds from any place back to a key frame, at most, as far as was looked; above 0. Absent where decoding can begin, exactly and at a
   * bearable cost, at the start only.
   */
  keySeconds?: number
  /** The picture as it is stored can be a rendition; absent where it cannot. */
  copy?: SourceCopy
}

/** A picture that needs no encoding. */
export interface SourceCopy {
  /** All of them, each on its place of the constant rate. */
  frames: number
  /** The least rate of a rendition, kbit/s, that it is not above: its average, and no group of it is above that of a full buffer. */
  kbps: number
}

export interface SourceAudio {
  index: number
  codec: string
  channels: number
  /** Hertz. */
  sampleRate: number
  /** As the file says it, lower case; empty where it says nothing. */
  language: string
  /** What the file calls it: one line of at most 80 characters without double quotes; empty where it says nothing. */
  title: string
  isDefault: boolean
  endSeconds: number
}

/** What a source is, measured and checked. */
export interface SourceProbe {
  container: Container['name']
  demuxer: string
  /** To the end of the longest stream that is used. */
  durationSeconds: number
  /** Bits a second of the whole file; 0 where unknown. */
  bitrate: number
  streams: number
  video?: SourceVideo
  audio: SourceAudio[]
}

/** Above these a source is refused with 4003. */
export interface SourceLimits {
  maxPixels: number
  maxSeconds: number
  maxStreams: number
  maxFrameRate: number
}

export const defaultSourceLimits: SourceLimits = { maxPixels: 35_389_440, maxSeconds: 12 * 3600, maxStreams: 32, maxFrameRate: 240 }
