/**
 * A fraction, such as the frame rate 30000/1001, which has no exact decimal form, or a time base in
 * seconds.
 */
export interface Rational {
  numerator: number
  denominator: number
}

export interface SourceVideo {
  /** Index of the stream in the file. */
  index: number
  codec: string
  /** Display size: square pixels, after rotation. */
  width: number
  height: number
  /** Clockwise rotation of the stored picture in degrees: 0, 90, 180 or 270. */
  rotation: number
  frameRate: Rational
  /** Whether the distances between frames vary. `frameRate` is then the average. */
  variableRate: boolean
  pixelFormat: string
  bitDepth: number
  interlaced: boolean
  /** Whether black is 0 instead of 16. */
  fullRange: boolean
  /**
   * Transfer curve by ffprobe's name, such as `bt709`, `smpte2084` (HDR10), `arib-std-b67` (HLG);
   * empty if unknown.
   */
  transfer: string
  /** True if the file declares primaries and matrix. Many files declare the transfer curve only. */
  declaresColours: boolean
  /** Seconds from the start of the file to the end of this stream. */
  endSeconds: number
  /**
   * Maximum seconds from any position back to a key frame, as far as it was measured; above 0.
   * Undefined if decoding can start exactly and cheaply only at the beginning.
   */
  keySeconds?: number
  /** Present if the stored picture can be used as a rendition without encoding. */
  copy?: SourceCopy
}

/** Properties of a picture that can be used as a rendition without encoding. */
export interface SourceCopy {
  /** Number of frames, each at its position of the constant rate. */
  frames: number
  /**
   * Smallest bitrate of a rendition, in kbit/s, that the picture does not exceed: neither its
   * average nor any group with a full buffer.
   */
  kbps: number
  /** Duration of a tick of the stream's times in seconds. */
  timeBase: Rational
}

export interface SourceAudio {
  index: number
  codec: string
  channels: number
  /** Sample rate in Hz. */
  sampleRate: number
  /** Language in the file, in lower case; empty if there is none. */
  language: string
  /**
   * Title in the file: one line of at most 80 characters without double quotes; empty if there is
   * none.
   */
  title: string
  isDefault: boolean
  /** Seconds from the start of the file to the end of this stream. */
  endSeconds: number
}

/** Measured and validated properties of a source. */
export interface SourceProbe {
  /** Name of the container, such as `mp4`. */
  container: string
  demuxer: string
  /** Seconds from the start of the file to the end of the used stream that ends last. */
  durationSeconds: number
  /** Bit rate of the file in bit/s; 0 if unknown. */
  bitrate: number
  /** Number of streams in the file. */
  streams: number
  video?: SourceVideo
  audio: SourceAudio[]
}

/** Limits above which a source is rejected with 4003. */
export interface SourceLimits {
  maxPixels: number
  maxSeconds: number
  maxStreams: number
  maxFrameRate: number
}

export const defaultSourceLimits: SourceLimits = { maxPixels: 35_389_440, maxSeconds: 12 * 3600, maxStreams: 32, maxFrameRate: 240 }
