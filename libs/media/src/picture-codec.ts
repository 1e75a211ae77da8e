import type { X264Asm } from './pin-x264-asm.ts'
import type { PlannedChunk } from './plan-chunks.ts'

/** Codecs of a picture. Every source gets H.264; the others are added on request. */
export type PictureCodec = 'h264' | 'hevc' | 'av1'

export const pictureCodecs: readonly PictureCodec[] = ['h264', 'hevc', 'av1']

/** ffmpeg encoder of each codec. */
export const pictureEncoders: Readonly<Record<PictureCodec, string>> = { h264: 'libx264', hevc: 'libx265', av1: 'libsvtav1' }

/** ffprobe name of each codec. */
export const ffprobeCodecNames: Readonly<Record<PictureCodec, string>> = { h264: 'h264', hevc: 'hevc', av1: 'av1' }

/** CPU time to encode a picture, as a multiple of H.264 (measured). */
export const pictureCosts: Readonly<Record<PictureCodec, number>> = { h264: 1, hevc: 4, av1: 3 }

export interface PictureQuality {
  codec: PictureCodec
  /** Maximum bitrate of the picture in kbit/s. */
  kbps: number
  profile: 'baseline' | 'high'
  groupFrames: number
  chunk: Pick<PlannedChunk, 'startFrame'>
  x264Asm: X264Asm | undefined
}

/**
 * Options of x264 for static content. A longer look-ahead than the ten frames of the preset spends
 * the bits of such content on its key frames. The full adaptive quantisation of the preset favours
 * flat areas and costs one point of VMAF on slides. `npm run bench -- encode --only ladder`
 * measures both.
 */
const X264_STATIC_CONTENT = 'rc-lookahead=20:aq-strength=0.5'

/**
 * Returns the encoder options: constant quality under a cap with a buffer of one second, in closed
 * groups of fixed length. Each encoder has one thread. With more, rate control depends on thread
 * timing, so two runs differ. The encoders run in parallel. A chunk starts with half of the buffer,
 * which is about the level at the end of the previous chunk. With a full buffer, each chunk border
 * of a picture that is hard to encode would add bytes to the average.
 */
export function pictureOptions({ codec, kbps, profile, groupFrames, chunk, x264Asm }: PictureQuality): string[][] {
  const cap = [
    ['-maxrate', `${kbps}k`],
    ['-bufsize', `${kbps}k`],
  ]
  const buffer = chunk.startFrame > 0 ? 'vbv-init=0.5:' : ''
  const groups = `keyint=${groupFrames}:min-keyint=${groupFrames}:scenecut=0:open-gop=0`
  const encoder = ['-c:v', pictureEncoders[codec]]
  switch (codec) {
    case 'h264':
      return [
        encoder,
        ['-preset', 'veryfast'],
        ['-profile:v', profile],
        ['-threads', '1'],
        ['-crf', '18'],
        ...cap,
        ['-x264-params', `${buffer}${groups}:force-cfr=1:${X264_STATIC_CONTENT}${x264Asm ? `:asm=${x264Asm}` : ''}`],
      ]
    case 'hevc':
      return [
        encoder,
        ['-preset', 'veryfast'],
        // Apple's players require this tag: parameter sets are in the track header only.
        ['-tag:v', 'hvc1'],
        ['-crf', '27'],
        ...cap,
        ['-x265-params', `${buffer}${groups}:frame-threads=1:pools=none:info=0:log-level=error`],
      ]
    case 'av1':
      return [
        encoder,
        ['-preset', '10'],
        ['-crf', '35'],
        ...cap,
        ['-g', String(groupFrames)],
        // `irefresh-type=2` closes the groups. By default the encoder may exceed the cap by half.
        ['-svtav1-params', 'lp=1:scd=0:irefresh-type=2:mbr-overshoot-pct=0'],
      ]
  }
}
