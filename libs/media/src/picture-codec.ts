import type { PlannedChunk } from './plan-chunks.ts'
import type { X264Asm } from './x264-asm.ts'

/** How a picture can be encoded. H.264 is what every source gets; the others are added on request. */
export type PictureCodec = 'h264' | 'hevc' | 'av1'

export const pictureCodecs: readonly PictureCodec[] = ['h264', 'hevc', 'av1']

/** The encoder of ffmpeg that makes each. */
export const pictureEncoders: Readonly<Record<PictureCodec, string>> = { h264: 'libx264', hevc: 'libx265', av1: 'libsvtav1' }

/** What ffprobe calls each. */
export const probedPictures: Readonly<Record<PictureCodec, string>> = { h264: 'h264', hevc: 'hevc', av1: 'av1' }

/** Measured: processor time for a picture, as times of that of H.264. */
export const pictureCosts: Readonly<Record<PictureCodec, number>> = { h264: 1, hevc: 4, av1: 3 }

export interface PictureQuality {
  codec: PictureCodec
  /** The most that the picture may take, kbit/s. */
  kbps: number
  profile: 'baseline' | 'high'
  groupFrames: number
  chunk: Pick<PlannedChunk, 'startFrame'>
  x264Asm: X264Asm | undefined
}

/**
 * What stands still gets its bits in the key frame that it stands on, which takes a look ahead of more than the preset's ten frames; the preset's full
 * shift of bits towards flat areas costs a point of VMAF on slides. Measured by `npm run bench -- encode --only ladder`.
 */
const easyContent = 'rc-lookahead=20:aq-strength=0.5'

/**
 * Constant quality under a cap of one second's buffer, in closed groups of a fixed length. One thread for each encoder: with more, rate control
 * depends on which thread is first, and two runs differ; the encoders themselves run side by side. A chunk begins with half of that buffer, about
 * what the one before it left: with a full one, each seam of a picture that is hard to encode would add its bytes to the average.
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
        ['-x264-params', `${buffer}${groups}:force-cfr=1:${easyContent}${x264Asm ? `:asm=${x264Asm}` : ''}`],
      ]
    case 'hevc':
      return [
        encoder,
        ['-preset', 'veryfast'],
        // Apple's players take no other tag: parameter sets stand in the head of the track alone.
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
        // `irefresh-type=2` closes the groups; the cap may be passed by half unless it is said otherwise.
        ['-svtav1-params', 'lp=1:scd=0:irefresh-type=2:mbr-overshoot-pct=0'],
      ]
  }
}
