import type { FfmpegOutput } from './ffmpeg-arguments.ts'
import { toNumber } from './frame-rate.ts'
import { sizeFor } from './ladder.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import { outputFile, setLayout } from './set-layout.ts'

/** The preview has about three seconds in total, from up to three positions of the video. */
const TOTAL_FRAMES = 24
/** Target frame rate. The frame rate of the preview is that of the video divided by an integer. */
const FRAMES_PER_SECOND = 8
const MAX_POSITIONS = 3

/**
 * Returns the indexes of the segments whose starts the preview shows, in a list of `count`
 * segments.
 */
export function previewSegments(count: number): number[] {
  const positions = Math.min(MAX_POSITIONS, count)
  return Array.from({ length: positions }, (_, index) => Math.floor(((index + 0.5) * count) / positions))
}

/**
 * Returns the graph that creates the animated preview from the joined segments of
 * `previewSegments`. It has few colours and pixels, because it is shown in lists.
 */
export function previewGraph(plan: EncodePlan, rendition: PlannedRendition, input: number, positions: number, label: string): string {
  const { video } = plan
  if (!video || !rendition.video) throw new RangeError('there is no picture to preview')
  const { frameRate, groupFrames } = video
  const step = Math.max(1, Math.round(toNumber(frameRate) / FRAMES_PER_SECOND))
  const framePosition = `mod(n\\,${groupFrames * 2})`
  const size = sizeFor({ shortSide: 136 }, rendition.video)
  const rate = `${frameRate.numerator}/${frameRate.denominator * step}`
  return [
    `[${input}:v:0]select=lt(${framePosition}\\,${step * Math.floor(TOTAL_FRAMES / positions)})*not(mod(${framePosition}\\,${step}))`,
    `setpts=N*${frameRate.denominator * step}/${frameRate.numerator}/TB`,
    `fps=${rate}`,
    `scale=${size.width}:${size.height}:flags=bicubic+accurate_rnd+bitexact`,
    'split=2[g0][g1];[g0]palettegen=max_colors=96[palette];[g1][palette]paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle',
  ]
    .join(',')
    .concat(label)
}

export function previewOutput(label: string): FfmpegOutput {
  const options = ['-map', label, '-c:v', 'gif', '-flags', '+bitexact', '-fflags', '+bitexact', '-f', 'gif']
  return { file: outputFile(setLayout.preview), options }
}
